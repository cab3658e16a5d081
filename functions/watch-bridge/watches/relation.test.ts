import { describe, expect, it } from 'vitest';
import { fc } from '#shared/testing';
import { Relation } from './relation.ts';

const names = ['a', 'b', 'c'];

describe('Relation', () => {
  it('finds what has a key, whatever other keys it has', () => {
    const step = fc.record({ id: fc.nat(3), keys: fc.subarray(names), gone: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const relation = new Relation();
        const model = new Map<number, readonly string[]>();
        for (const { id, keys, gone } of steps) {
          relation.delete(model.get(id) ?? [], id);
          model.delete(id);
          if (!gone) {
            relation.add(keys, id);
            model.set(id, keys);
          }
          for (const name of names) {
            const holders = [...model].filter(([, held]) => held.includes(name)).map(([known]) => known);
            expect([...relation.get(name)].toSorted()).toEqual(holders.toSorted());
            expect(relation.has(name)).toBe(holders.length > 0);
          }
          const held = new Set([...model.values()].flat());
          expect([...relation.keys()].toSorted()).toEqual([...held].toSorted());
        }
      }),
    );
  });
});
