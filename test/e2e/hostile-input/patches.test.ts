import { describe, it } from 'vitest';
import { attacked, many, orders, refused } from './attacked.ts';

const server = attacked();

describe('patches', () => {
  const patch = (operations: unknown, type = 'application/json-patch+json') =>
    server.send('PATCH', `${orders}/target`, { body: JSON.stringify(operations), type });
  const list = many(9_999, (index) => `item ${index}`);

  it.each<[string, unknown, number]>([
    ['no list', {}, 400],
    ['an unknown operation', [{ op: 'eval', path: '/spec' }], 422],
    ['a pointer without a slash', [{ op: 'add', path: 'spec', value: 1 }], 422],
    ['a test that fails', [{ op: 'test', path: '/metadata/name', value: 'other' }], 422],
    ['an index far away', [{ op: 'replace', path: '/spec/artifacts/4294967290', value: {} }], 422],
    ['a length', [{ op: 'replace', path: '/spec/artifacts/length', value: 4_294_967_295 }], 422],
    ['the prototype', [{ op: 'add', path: '/__proto__/polluted', value: 1 }], 422],
    ['another kind', [{ op: 'replace', path: '/kind', value: 'Secret' }], 422],
    ['another uid', [{ op: 'replace', path: '/metadata/uid', value: 'x' }], 422],
    ['nothing left', [{ op: 'remove', path: '' }], 422],
    ['copies that double', many(60, (at) => ({ op: 'copy', from: '/spec', path: `/spec/x${at}` })), 413],
    ['too many operations', many(10_001, () => ({ op: 'remove', path: '/x' })), 413],
    ['a pointer of a megabyte', [{ op: 'remove', path: '/a'.repeat(500_000) }], 422],
    [
      'a big value moved 9,999 times',
      [
        { op: 'add', path: '/spec/a', value: list },
        ...many(9_998, (at) =>
          at % 2 ? { op: 'move', from: '/b', path: '/spec/a' } : { op: 'move', from: '/spec/a', path: '/b' },
        ),
        { op: 'test', path: '/kind', value: 'x' },
      ],
      422,
    ],
  ])('of %s are refused', async (_what, operations, code) => {
    refused(await patch(operations), code);
  });

  it.each<[unknown, number]>([
    [[], 400],
    [5, 400],
    [{ metadata: 5 }, 422],
    [{ metadata: { labels: [] } }, 422],
    [{ metadata: { resourceVersion: 'x' } }, 409],
    [{ metadata: { deletionTimestamp: '2020-01-01T00:00:00Z' } }, 422],
    [{ spec: 5 }, 422],
    [{ spec: { artifacts: [null] } }, 422],
    [{ kind: null }, 422],
  ])('merging %j are refused', async (changes, code) => {
    refused(await patch(changes, 'application/merge-patch+json'), code);
  });
});
