import { describe, expect, it } from 'vitest';
import { fc, runs } from '#shared/base/testing';
import type { StoredItem } from '../interface/store.ts';
import { Items } from './items.ts';

const prefix = '/a/';
const item = (key: string, text: string, revision = 1): StoredItem => ({
  key,
  value: Buffer.from(text),
  revision,
});
const textOf = ({ value }: StoredItem) => Buffer.from(value).toString();

function lookup(...values: string[]) {
  return { indexer: { prefix, indexValuesOf }, values };
}
const indexed: string[] = [];
function indexValuesOf(one: StoredItem): string[] {
  indexed.push(one.key);
  return textOf(one)
    .split(' ')
    .filter((word) => word !== '');
}

const changes = fc.array(
  fc.record({
    key: fc.constantFrom('/a/n/1', '/a/n/2', '/a/m/1', '/a/m/é', '/b/n/1'),
    text: fc.option(fc.constantFrom('', 'x', 'y', 'x y', 'y x z')),
  }),
  { maxLength: 40 },
);

describe('items looked up by an index value', () => {
  it('equal those of a scan, regardless of writes before and after the index is built', () => {
    fc.assert(
      fc.property(changes, changes, (before, after) => {
        const items = new Items();
        const apply = ({ key, text }: (typeof before)[number], revision: number) => {
          const previous = items.get(key);
          if (text !== null) items.apply({ type: 'put', key, value: Buffer.from(text), revision, previous });
          else if (previous) items.apply({ type: 'delete', key, revision, previous });
        };
        const check = () => {
          for (const words of [['x'], ['y'], ['z'], ['x', 'y', 'none'], []])
            for (const within of [prefix, '/a/n/', '/a/n/2']) {
              const range = { prefix: within, start: '', limit: undefined };
              const scanned = items
                .page(range)
                .items.filter((one) => indexValuesOf(one).some((word) => words.includes(word)));
              expect(items.lookUp(lookup(...words), range)).toEqual({ items: scanned, remaining: 0 });
            }
        };
        for (const [index, change] of before.entries()) apply(change, index + 1);
        check();
        for (const [index, change] of after.entries()) apply(change, index + 100);
        check();
      }),
      { numRuns: runs(200) },
    );
  });

  it('are found without reading others once the index is built', async () => {
    const items = new Items(Array.from({ length: 1000 }, (_, at) => item(`/a/${1000 + at}`, `w${at}`)));
    const range = { prefix, start: '', limit: undefined };
    indexed.length = 0;
    expect(items.lookUp(lookup('w1'), range)).toEqual(items.page(range));
    // The rest is indexed in later turns of the event loop, including concurrent writes.
    expect(indexed.length).toBeLessThan(300);
    const [old, gone] = [items.get('/a/1900'), items.get('/a/1901')];
    if (!old || !gone) throw new Error('no items');
    items.apply({ type: 'put', key: old.key, value: Buffer.from('w7'), revision: 2, previous: old });
    items.apply({ type: 'delete', key: gone.key, revision: 3, previous: gone });
    await items.whenIndexed(lookup().indexer);
    expect(items.whenIndexed(lookup().indexer)).toBeUndefined();
    expect(items.lookUp(lookup('w7'), range).items.map(({ key }) => key)).toEqual(['/a/1007', '/a/1900']);
    expect(items.lookUp(lookup('w900', 'w901'), range).items).toEqual([]);
    indexed.length = 0;
    expect(items.lookUp(lookup('w8'), range).items.map(textOf)).toEqual(['w8']);
    expect(indexed).toEqual([]);
  });
});
