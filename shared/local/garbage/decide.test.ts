import { describe, expect, it } from 'vitest';
import { blocking, decide, type OwnerState } from './decide.ts';
import { nodeOf } from './graph.ts';

const owned = (...states: OwnerState[]) =>
  states.map((state, index) => ({
    state,
    owner: { apiVersion: 'v1', kind: 'A', name: 'a', uid: String(index) },
  }));

describe('decide', () => {
  it.each<[OwnerState[], boolean, object]>([
    [[], false, { do: 'nothing' }],
    [['solid'], false, { do: 'nothing' }],
    [['absent'], true, { do: 'delete', policy: 'Background' }],
    [['waiting'], true, { do: 'delete', policy: 'Foreground' }],
    [['waiting', 'absent'], false, { do: 'delete', policy: 'Background' }],
  ])('%j, dependents %s', (states, has, expected) => expect(decide(owned(...states), has)).toEqual(expected));

  it('keeps an object that one owner still wants, without the other references', () => {
    expect(decide(owned('absent', 'solid'), false)).toMatchObject({ do: 'release', keep: [{ uid: '1' }] });
  });
});

describe('blocking', () => {
  it('are the dependents that say so', () => {
    const kind = { apiVersion: 'v1', kind: 'A', plural: 'as', namespaced: true };
    const node = (name: string, block: boolean) =>
      nodeOf(kind, {
        apiVersion: 'v1',
        kind: 'A',
        metadata: {
          name,
          uid: name,
          ownerReferences: [{ apiVersion: 'v1', kind: 'A', name: 'o', uid: 'o', blockOwnerDeletion: block }],
        },
      });
    const owner = nodeOf(kind, { apiVersion: 'v1', kind: 'A', metadata: { name: 'o', uid: 'o' } });
    expect(blocking(owner, [node('a', true), node('b', false)]).map((one) => one.name)).toEqual(['a']);
  });
});
