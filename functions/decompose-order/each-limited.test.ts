import { describe, expect, it } from 'vitest';
import { fc } from '#shared/testing';
import { eachLimited } from './each-limited.ts';

describe('eachLimited', () => {
  it('does every item once, never more than the limit at a time, and reports each failure', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.boolean(), { maxLength: 50 }),
        fc.integer({ min: 1, max: 8 }),
        async (fails, limit) => {
          const items = fails.map((fail, index) => ({ fail, index }));
          const done: number[] = [];
          let busy = 0;
          const failures = await eachLimited(items, limit, async ({ fail, index }) => {
            busy += 1;
            expect(busy).toBeLessThanOrEqual(limit);
            await Promise.resolve();
            busy -= 1;
            done.push(index);
            if (fail) throw new Error(String(index));
          });
          expect(done.toSorted((a, b) => a - b)).toEqual(items.map(({ index }) => index));
          expect(failures.map(({ item }) => item)).toEqual(items.filter(({ fail }) => fail));
        },
      ),
    );
  });
});
