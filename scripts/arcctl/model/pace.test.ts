import { describe, expect, it } from 'vitest';
import { createPace, paceText, secondsText } from './pace.ts';

describe('the pace of an artifact', () => {
  it('is known from the second reading on', () => {
    const pace = createPace();
    expect(pace.note('a', '0/1000', 0)).toBeUndefined();
    expect(pace.note('a', '100/1000', 1000)).toEqual({ bytesPerSecond: 100, secondsLeft: 9 });
    expect(pace.note('a', '300/1000', 2000)).toEqual({ bytesPerSecond: 150, secondsLeft: 700 / 150 });
    expect(pace.note('b', '300/1000', 2000)).toBeUndefined();
  });

  it('stays between readings, and falls when none comes', () => {
    const pace = createPace();
    pace.note('a', '0/1000', 0);
    pace.note('a', '100/1000', 1000);
    expect(pace.note('a', '100/1000', 1500)?.bytesPerSecond).toBe(100);
    expect(pace.note('a', '100/1000', 11_000)?.bytesPerSecond).toBe(10);
  });

  it('forgets what is long ago, but for readings that are rarer than that', () => {
    const pace = createPace();
    pace.note('a', '0/10000', 0);
    pace.note('a', '1000/10000', 60_000);
    expect(pace.note('a', '7000/10000', 120_000)?.bytesPerSecond).toBe(100);
  });

  it('begins anew with another attempt, and ends with what is no progress', () => {
    const pace = createPace();
    pace.note('a', '0/10', 0);
    pace.note('a', '8/10', 1000);
    expect(pace.note('a', '1/10', 2000)).toBeUndefined();
    expect(pace.note('a', undefined, 3000)).toBeUndefined();
    expect(pace.note('a', '5/10', 4000)).toBeUndefined();
    expect(pace.note('a', '10/10', 5000)).toBeUndefined();
  });
});

it('a rate is one of bytes, or is not shown', () => {
  const pace = { bytesPerSecond: 2048, secondsLeft: 45 };
  expect(paceText(pace, '4096/1000000')).toBe('2 KiB/s, 45s left');
  expect(paceText(pace, '30/100')).toBe('45s left');
});

it('times are short texts', () => {
  const texts = [0.2, 45, 200, 7500, Number.POSITIVE_INFINITY].map(secondsText);
  expect(texts).toEqual(['1s', '45s', '3m20s', '2h5m', 'long']);
});
