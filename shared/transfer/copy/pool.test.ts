import { describe, expect, it } from 'vitest';
import { fc } from '#shared/testing';
import { mapBounded } from './pool.ts';

const signal = new AbortController().signal;

describe('bounded work', () => {
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
