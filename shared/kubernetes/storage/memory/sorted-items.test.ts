import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { compareKeys } from '../interface/keys.ts';
import type { StoredItem } from '../interface/store.ts';
import { SortedItems } from './sorted-items.ts';

const key = fc.string({ unit: fc.constantFrom('a', 'b', '/', '\u{1f600}', '\uff5e'), maxLength: 5 });
const changes = fc.array(fc.record({ set: fc.boolean(), key }), { maxLength: 60 });

const value = new Uint8Array();
const item = (key: string, revision = 1): StoredItem => ({ key, value, revision });
const keysOf = (items: StoredItem[]) => items.map((one) => one.key);

describe('SortedItems', () => {
  it('gets, ranges and counts as a sorted Map would', () => {
    fc.assert(
      fc.property(fc.uniqueArray(key), changes, key, key, fc.nat(9), (initial, all, prefix, start, limit) => {
        const model = new Map(initial.map((one) => [one, item(one)]));
        const items = new SortedItems(initial.toSorted(compareKeys).map((one) => item(one)));
        for (const [at, change] of all.entries()) {
          const changed = item(change.key, at + 2);
          if (change.set) model.set(change.key, changed);
          else model.delete(change.key);
          if (change.set) items.set(changed);
          else items.delete(change.key);
        }
        const sorted = [...model.values()].sort((a, b) => compareKeys(a.key, b.key));
        const inRange = sorted.filter(
          (one) => one.key.startsWith(prefix) && compareKeys(one.key, start) >= 0,
        );
        expect(items.range(prefix, start)).toEqual(inRange);
        expect(items.range(prefix, start, limit)).toEqual(inRange.slice(0, limit));
        expect(items.count(prefix, start)).toBe(inRange.length);
        expect(items.get(prefix)).toEqual(model.get(prefix));
      }),
    );
  });

  it('keeps order through thousands of keys added in any order and removed again', () => {
    const all = Array.from({ length: 5000 }, (_, at) => `/${String((at * 2713) % 5000).padStart(4, '0')}`);
    const items = new SortedItems();
    for (const one of all) items.set(item(one));
    expect(keysOf(items.range('/'))).toEqual(all.toSorted());
    expect(keysOf(items.range('/', '/1000', 700))).toEqual(all.toSorted().slice(1000, 1700));
    expect(items.count('/1')).toBe(1000);
    expect(items.count('/', '/4990')).toBe(10);
    expect(items.count('/1', '/3')).toBe(0);
    for (const one of all.slice(0, 4999)) items.delete(one);
    expect(keysOf(items.range(''))).toEqual(all.slice(4999));
  });
});
