import { describe, expect, it } from 'vitest';
import { fc } from '#shared/testing';
import { createBackoff } from './backoff.ts';

describe('createBackoff', () => {
  it('doubles up to the bound, and starts again after a reset', () => {
    const backoff = createBackoff({ baseMs: 100, maxMs: 500, random: () => 1 });
    expect([1, 2, 3, 4, 5].map(() => backoff.next())).toEqual([100, 200, 400, 500, 500]);
    backoff.reset();
    expect(backoff.next()).toBe(100);
  });

  it('waits at least as long as the server asks, but never longer than the bound', () => {
    const backoff = createBackoff({ baseMs: 10, maxMs: 500, random: () => 0 });
    expect(backoff.next(300)).toBe(300);
    expect(backoff.next(9_000)).toBe(500);
  });

  it('stays between half the base and the bound for ever', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { maxLength: 80 }),
        (chances) => {
          let index = 0;
          const backoff = createBackoff({ baseMs: 200, maxMs: 30_000, random: () => chances[index++] ?? 0 });
          for (const _ of chances) {
            const wait = backoff.next();
            expect(wait).toBeGreaterThanOrEqual(100);
            expect(wait).toBeLessThanOrEqual(30_000);
          }
        },
      ),
    );
  });
});
