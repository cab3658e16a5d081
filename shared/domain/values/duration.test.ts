import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { parseDuration } from './duration.ts';

describe('parseDuration', () => {
  it.each([
    ['1h30m', 5_400_000],
    ['90s', 90_000],
    ['1.5s', 1_500],
    ['.5m', 30_000],
    ['250ms', 250],
    ['0', 0],
    ['0s', 0],
    ['-2m', -120_000],
    ['1h0m0s', 3_600_000],
  ])('%s is %d ms', (text, ms) => expect(parseDuration(text)).toBe(ms));

  it.each(['', '1', '1d', 'h', '1h 30m', '1e3s', '--1s'])('%j is no duration', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  it('does not look at more than 64 characters', () => {
    expect(parseDuration(`${'0'.repeat(62)}1s`)).toBe(1000);
    expect(parseDuration(`${'0'.repeat(63)}1s`)).toBeUndefined();
    expect(parseDuration('1'.repeat(1_000_000))).toBeUndefined();
  });

  it('adds up hours, minutes and seconds', () => {
    const part = fc.nat({ max: 10_000 });
    fc.assert(
      fc.property(part, part, part, (h, m, s) => {
        expect(parseDuration(`${h}h${m}m${s}s`)).toBe(((h * 60 + m) * 60 + s) * 1000);
      }),
    );
  });
});
