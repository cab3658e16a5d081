import { describe, expect, it } from 'vitest';
import { fc } from '#shared/testing';
import { IdSet } from './id-set.ts';

describe('IdSet', () => {
  const id = fc.oneof(fc.nat({ max: 70 }), fc.nat({ max: 100_000 }));

  it('holds what a Set holds', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(id, fc.boolean()), { maxLength: 200 }), (steps) => {
        const set = new IdSet();
        const model = new Set<number>();
        for (const [one, gone] of steps) {
          if (gone) expect(set.delete(one)).toBe(model.delete(one));
          else {
            set.set(one);
            model.add(one);
          }
          expect(set.get(one)).toBe(gone ? undefined : one);
        }
        expect(set.size).toBe(model.size);
        expect([...set.snapshot()].map(([one]) => one)).toEqual([...model].toSorted((a, b) => a - b));
      }),
    );
  });

  it('is walked through as it was at the beginning', () => {
    const set = new IdSet();
    for (const one of [3, 31, 32, 4_000]) set.set(one);
    const walked = set.snapshot();
    set.delete(32);
    set.set(33);
    expect([...walked].map(([one]) => one)).toEqual([3, 31, 32, 4_000]);
    set.clear();
    expect([...set.snapshot()]).toEqual([]);
  });
});
