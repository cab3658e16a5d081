import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareKeys } from './keys.ts';
import { SortedKeys } from './sorted-keys.ts';

const key = fc.string({ unit: fc.constantFrom('a', 'b', '/', '\u{1f600}', '\uff5e'), maxLength: 5 });
const changes = fc.array(fc.record({ add: fc.boolean(), key }), { maxLength: 60 });

describe('SortedKeys', () => {
  it('ranges and counts as a sorted Set would', () => {
    fc.assert(
      fc.property(fc.uniqueArray(key), changes, key, key, (initial, all, prefix, start) => {
        const model = new Set(initial);
        const keys = new SortedKeys(initial.toSorted(compareKeys));
        for (const change of all) {
          if (change.add) model.add(change.key);
          else model.delete(change.key);
          if (change.add) keys.add(change.key);
          else keys.delete(change.key);
        }
        const inRange = [...model].filter((one) => one.startsWith(prefix) && compareKeys(one, start) >= 0);
        expect([...keys.range(prefix, start)]).toEqual(inRange.toSorted(compareKeys));
        expect(keys.count(prefix, start)).toBe(inRange.length);
      }),
    );
  });

  it('keeps order through thousands of keys added in any order and removed again', () => {
    const all = Array.from({ length: 5000 }, (_, at) => `/${String((at * 2713) % 5000).padStart(4, '0')}`);
    const keys = new SortedKeys();
    for (const one of all) keys.add(one);
    expect([...keys.range('/')]).toEqual(all.toSorted());
    expect(keys.count('/1')).toBe(1000);
    expect(keys.count('/', '/4990')).toBe(10);
    expect(keys.count('/1', '/3')).toBe(0);
    for (const one of all.slice(0, 4999)) keys.delete(one);
    expect([...keys.range('')]).toEqual(all.slice(4999));
  });
});
