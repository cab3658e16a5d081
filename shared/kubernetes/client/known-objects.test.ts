import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#shared/base/meta';
import { fc } from '#shared/base/testing';
import type { Kind } from './client.ts';
import { type Change, createKnownObjects } from './known-objects.ts';

const secrets: Kind = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };

function secret(name: string, uid: string, resourceVersion: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'n', uid, resourceVersion } };
}

const whole = () => createKnownObjects(secrets, (object: KubeObject) => object);
const types = (changes: Change<KubeObject, unknown>[]) => changes.map((change) => change.type);

describe('createKnownObjects', () => {
  it('reports added, modified and deleted, with the state before', () => {
    const known = whole();
    const [first, second] = [secret('a', 'u', '1'), secret('a', 'u', '2')];
    expect(known.put(first)).toEqual([{ type: 'added', after: first }]);
    expect(known.put(second)).toEqual([{ type: 'modified', before: first, after: second }]);
    expect(known.get('n', 'a')).toBe(second);
    expect(known.remove(secret('a', 'u', '3'))).toMatchObject([{ type: 'deleted' }]);
    expect(known.size).toBe(0);
  });

  it('reports no change for the same version', () => {
    const known = whole();
    known.put(secret('a', 'u', '1'));
    expect(known.put(secret('a', 'u', '1'))).toEqual([]);
  });

  it('reports the missed deletion when another object has the same name', () => {
    const known = whole();
    known.put(secret('a', 'u1', '1'));
    expect(types(known.put(secret('a', 'u2', '9')))).toEqual(['deleted', 'added']);
    expect(known.remove(secret('a', 'u1', '8'))).toEqual([]);
    expect(known.size).toBe(1);
  });

  it('keeps no more than the projection', () => {
    const known = createKnownObjects(secrets, (object: KubeObject) => object.metadata.name.length);
    known.put(secret('abc', 'u', '1'));
    expect(known.put(secret('abc', 'u', '2'))).toMatchObject([{ type: 'modified', before: 3 }]);
    expect([...known.values()]).toEqual([3]);
  });

  it('reports changes that always add up to the known state', () => {
    const object = fc
      .tuple(fc.nat(4), fc.nat(2), fc.nat(5))
      .map(([n, u, v]) => secret(`s${n}`, `u${u}`, `${v}`));
    const step = fc.oneof(
      object.map((one) => ({ put: one })),
      object.map((one) => ({ remove: one })),
      fc.uniqueArray(object, { selector: (one) => one.metadata.name }).map((list) => ({ list })),
    );
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const known = whole();
        const replayed = new Map<string, KubeObject>();
        const apply = (changes: Change<KubeObject>[]) => {
          for (const change of changes) {
            const { name } = (change.after ?? change.before).metadata;
            if (change.type === 'added') expect(replayed.has(name)).toBe(false);
            else expect(replayed.get(name)?.metadata.uid).toBe(change.before.metadata.uid);
            if (change.type === 'deleted') replayed.delete(name);
            else replayed.set(name, change.after);
          }
        };
        for (const one of steps) {
          if ('put' in one) apply(known.put(one.put));
          else if ('remove' in one) apply(known.remove(one.remove));
          else {
            for (const item of one.list) apply(known.put(item));
            apply(
              [...known.retain(new Set(one.list.map(known.keyOf)))].filter((change) => change !== undefined),
            );
            expect(known.size).toBe(one.list.length);
          }
          expect(new Set(known.values())).toEqual(new Set(replayed.values()));
        }
      }),
    );
  });
});
