import { describe, expect, it } from 'vitest';
import { fc } from '#shared/testing';
import { Slab } from './slab.ts';

describe('Slab', () => {
  it('gives back every text as long as it is not freed', () => {
    const text = fc.oneof(
      fc.nat({ max: 600 }).map((length) => '\xe4'.repeat(length)),
      fc.string({ unit: 'binary-ascii', maxLength: 40 }),
      fc.constantFrom('x'.repeat(40_000), 'y'.repeat(262_144), 'z'.repeat(262_145)),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(text, fc.nat({ max: 9 })), { maxLength: 200 }), (steps) => {
        const slab = new Slab();
        const kept = new Map<number, { place: number; text: string }>();
        for (const [one, slot] of steps) {
          const former = kept.get(slot);
          if (former !== undefined) slab.free(former.place);
          kept.set(slot, { place: slab.add(one), text: one });
          for (const { place, text: expected } of kept.values()) expect(slab.get(place)).toBe(expected);
        }
      }),
    );
  });

  it('uses a place that was freed for a text of the same length', () => {
    const slab = new Slab();
    const place = slab.add('a'.repeat(100));
    slab.add('b');
    slab.free(place);
    expect(slab.add('c'.repeat(100))).toBe(place);
  });
});
