import { describe, expect, it } from 'vitest';
import { rollUpInterval } from './rollup-interval.ts';

function writes(artifacts: number, runMs: number): number {
  let count = 0;
  for (let at = 0; at < runMs; at += Math.max(1, rollUpInterval(artifacts, at))) count += 1;
  return count;
}

describe('rollUpInterval', () => {
  it.each([
    [1_000, 15_000],
    [1_000, 120_000],
    [5_000, 600_000],
    [100, 1_000],
    [100, 60_000],
  ])('lets %d artifacts in %d ms cost about 20 writes', (artifacts, ms) => {
    expect(writes(artifacts, ms)).toBeLessThanOrEqual(25);
  });

  it('does not hold up an Order of one artifact, and one of a few for half a second at most', () => {
    expect(rollUpInterval(1, 0)).toBe(0);
    for (const artifacts of [2, 10, 100, 250])
      expect(rollUpInterval(artifacts, 100)).toBeLessThanOrEqual(500);
  });

  it('never falls as the Order or the run grows', () => {
    for (const elapsed of [0, 1_000, 60_000, 3_600_000]) {
      expect(rollUpInterval(5_000, elapsed)).toBeGreaterThanOrEqual(rollUpInterval(11, elapsed));
      expect(rollUpInterval(500, elapsed * 2)).toBeGreaterThanOrEqual(rollUpInterval(500, elapsed));
    }
  });
});
