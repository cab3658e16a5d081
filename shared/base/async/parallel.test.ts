import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { eachBounded, mapBounded } from './parallel.ts';

const signal = new AbortController().signal;

describe('mapBounded', () => {
  it('keeps the order of the items and the width', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(), { maxLength: 20 }),
        fc.integer({ min: 1, max: 5 }),
        async (items, width) => {
          let running = 0;
          const results = await mapBounded(items, width, signal, async (item) => {
            running += 1;
            expect(running).toBeLessThanOrEqual(width);
            await Promise.resolve();
            running -= 1;
            return item * 2;
          });
          expect(results).toEqual(items.map((item) => item * 2));
        },
      ),
    );
  });

  it('fails with the first failure, aborts the others and starts no more', async () => {
    const started: number[] = [];
    const work = async (item: number, sub: AbortSignal): Promise<void> => {
      started.push(item);
      if (item === 1) throw new Error('first');
      await new Promise((_, reject) => sub.addEventListener('abort', () => reject(new Error('second'))));
    };
    await expect(mapBounded([0, 1, 2, 3], 2, signal, work)).rejects.toThrow('first');
    expect(started).toEqual([0, 1]);
  });
});

describe('eachBounded', () => {
  it('does every item once, never more than the limit at a time, and reports each failure', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.boolean(), { maxLength: 50 }),
        fc.integer({ min: 1, max: 8 }),
        async (fails, limit) => {
          const items = fails.map((fail, index) => ({ fail, index }));
          const done: number[] = [];
          let busy = 0;
          const failures = await eachBounded(items, limit, async ({ fail, index }) => {
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
