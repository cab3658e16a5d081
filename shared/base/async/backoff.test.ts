import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { backoffMs, createBackoff, doubled, jittered } from './backoff.ts';

const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const times = fc.integer({ min: 0, max: 10_000 });

describe('doubled', () => {
  it('doubles up to the bound', () => {
    expect([0, 1, 2, 3, 4].map((n) => doubled(100, n, 500))).toEqual([100, 200, 400, 500, 500]);
  });

  it('never falls with the count and never exceeds the bound', () => {
    fc.assert(
      fc.property(times, fc.integer({ min: 1, max: 60_000 }), (n, maxMs) => {
        expect(doubled(200, n + 1, maxMs)).toBeGreaterThanOrEqual(doubled(200, n, maxMs));
        expect(doubled(200, n, maxMs)).toBeLessThanOrEqual(maxMs);
      }),
    );
  });
});

describe('backoffMs', () => {
  it('is between half and all of the doubled base, within the bound', () => {
    fc.assert(
      fc.property(times, chance, (n, random) => {
        const full = doubled(200, n, 30_000);
        const wait = backoffMs(n + 1, { baseMs: 200, maxMs: 30_000, random: () => random });
        expect(wait).toBeGreaterThanOrEqual(full / 2);
        expect(wait).toBeLessThanOrEqual(full);
      }),
    );
  });
});

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
      fc.property(fc.array(chance, { maxLength: 80 }), (chances) => {
        let index = 0;
        const backoff = createBackoff({ baseMs: 200, maxMs: 30_000, random: () => chances[index++] ?? 0 });
        for (const _ of chances) {
          const wait = backoff.next();
          expect(wait).toBeGreaterThanOrEqual(100);
          expect(wait).toBeLessThanOrEqual(30_000);
        }
      }),
    );
  });
});

describe('jittered', () => {
  it('stays within a quarter of the time', () => {
    fc.assert(
      fc.property(chance, (random) => {
        expect(Math.abs(jittered(1000, () => random) - 1000)).toBeLessThanOrEqual(250);
      }),
    );
  });
});
