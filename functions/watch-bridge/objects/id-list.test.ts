import { describe, expect, it } from 'vitest';
import { fc } from '#shared/testing';
import { IdList } from './id-list.ts';

describe('IdList', () => {
  it('holds what a Set holds, in order', () => {
    const step = fc.tuple(fc.nat({ max: 60 }), fc.boolean());
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const list = new IdList();
        const model = new Set<number>();
        for (const [id, gone] of steps) {
          if (gone) expect(list.delete(id)).toBe(model.delete(id));
          else {
            list.add(id);
            model.add(id);
          }
          expect(list.size).toBe(model.size);
        }
        expect([...list]).toEqual([...model].toSorted((a, b) => a - b));
      }),
    );
  });
});
