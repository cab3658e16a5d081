import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../kinds/definition.ts';
import { kinds } from '../testing/test-server.ts';
import { applyPatch, readPatch } from './patch.ts';

const [definition] = kinds;
const object: KubeObject = {
  apiVersion: 'v1',
  kind: 'Widget',
  metadata: { name: 'x' },
  spec: { a: [1, 2], b: { c: 1 } },
};

function patched(operations: object[], target: KubeObject = object): Promise<unknown> {
  if (!definition) throw new Error('no kind');
  return applyPatch({ type: 'json', operations: operations as never, duplicates: [] }, target, definition);
}

const read = async (body: unknown, type = 'application/json-patch+json') => {
  if (!definition) throw new Error('no kind');
  const raw = new Request('http://test.invalid/', {
    method: 'PATCH',
    body: JSON.stringify(body),
    headers: { 'content-type': type },
  });
  return readPatch({ raw, fairUse: undefined, body: undefined }, definition);
};

describe('JSON patch', () => {
  it('does not change the object it is applied to', async () => {
    expect(await patched([{ op: 'add', path: '/spec/b/d', value: 2 }])).toMatchObject({
      spec: { b: { c: 1, d: 2 } },
    });
    expect(object.spec).toEqual({ a: [1, 2], b: { c: 1 } });
  });

  it('can be applied again to another state', async () => {
    const operations = [
      { op: 'add', path: '/spec/new', value: {} },
      { op: 'add', path: '/spec/new/x', value: 1 },
    ];
    expect(await patched(operations)).toEqual(await patched(operations));
  });

  it.each([
    [{ op: 'test', path: '/spec/b/c', value: 2 }],
    [{ op: 'remove', path: '/spec/none' }],
    [{ op: 'replace', path: '/spec/none/none', value: 1 }],
    [{ op: 'add', path: '/no/where/at/all', value: 1 }],
    [{ op: 'add', path: '/__proto__/polluted', value: 1 }],
    [{ op: 'add', path: '/constructor/prototype/polluted', value: 1 }],
    [{ op: 'copy', path: '/spec/x', from: '/none/none' }],
  ])('rejects %j with Invalid', async (operation) => {
    await expect(patched([operation])).rejects.toMatchObject({ code: 'Invalid' });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('stops copies that repeatedly double the object', async () => {
    const operations = Array.from({ length: 60 }, (_, index) => ({
      op: 'copy',
      from: '/spec',
      path: `/spec/c${index}`,
    }));
    await expect(patched(operations)).rejects.toMatchObject({ code: 'RequestEntityTooLarge' });
  });

  it('limits moves that shift long lists repeatedly, but not in lists of usual length', async () => {
    const moves = (count: number) =>
      Array.from({ length: count }, () => ({ op: 'move', from: '/spec/a/0', path: '/spec/a/-' }));
    const listOf = (length: number): KubeObject => ({ ...object, spec: { a: Array(length).fill(1) } });
    await expect(patched(moves(2_000), listOf(10_000))).rejects.toMatchObject({
      code: 'RequestEntityTooLarge',
    });
    expect(await patched(moves(10_000), listOf(900))).toEqual(listOf(900));
  });

  it('refuses a body that is not a patch, and too many operations', async () => {
    for (const body of [{}, [1], [{ op: 'add', path: 1 }], [{ op: {}, path: '/a' }]]) {
      await expect(read(body)).rejects.toMatchObject({ code: 'BadRequest' });
    }
    const many = Array.from({ length: 10_001 }, () => ({ op: 'remove', path: '/a' }));
    await expect(read(many)).rejects.toMatchObject({ code: 'RequestEntityTooLarge' });
    await expect(read([], 'application/merge-patch+json')).rejects.toMatchObject({ code: 'BadRequest' });
  });
});
