import { describe, expect, it } from 'vitest';
import { fc, runs } from '#shared/testing';
import { Items } from './items.ts';
import type { StoredItem } from './store.ts';

const prefix = '/a/';
const item = (key: string, text: string, revision = 1): StoredItem => ({
  key,
  value: Buffer.from(text),
  revision,
});
const textOf = ({ value }: StoredItem) => Buffer.from(value).toString();

function finding(...words: string[]) {
  return { by: { prefix, wordsOf }, words };
}
const asked: string[] = [];
function wordsOf(one: StoredItem): string[] {
  asked.push(one.key);
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

describe('items found by a word', () => {
  it('are those that a scan finds, in its order, whatever has happened before and after the index was made', () => {
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
                .items.filter((one) => wordsOf(one).some((word) => words.includes(word)));
              expect(items.found(finding(...words), range)).toEqual({ items: scanned, remaining: 0 });
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

  it('are found without a look at the others', () => {
    const items = new Items(Array.from({ length: 1000 }, (_, at) => item(`/a/${1000 + at}`, `w${at}`)));
    const range = { prefix, start: '', limit: undefined };
    items.found(finding('w1'), range);
    asked.length = 0;
    expect(items.found(finding('w7'), range).items.map(textOf)).toEqual(['w7']);
    expect(asked).toEqual([]);
  });
});
