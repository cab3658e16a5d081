import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { age, humanDuration } from './human-duration.ts';

const s = 1000;
const m = 60 * s;
const h = 60 * m;
const d = 24 * h;
const y = 365 * d;

describe('humanDuration', () => {
  // The cases of upstream's own documentation of the function: each border, and a step to either side of it.
  it.each([
    [-2 * s, '<invalid>'],
    [-1999, '0s'],
    [-1, '0s'],
    [0, '0s'],
    [s - 1, '0s'],
    [s, '1s'],
    [2 * m - 1, '119s'],
    [2 * m, '2m'],
    [2 * m + s, '2m1s'],
    [10 * m - s, '9m59s'],
    [10 * m, '10m'],
    [10 * m + s, '10m'],
    [3 * h - s, '179m'],
    [3 * h, '3h'],
    [3 * h + m, '3h1m'],
    [8 * h - s, '7h59m'],
    [8 * h, '8h'],
    [8 * h + 59 * m, '8h'],
    [2 * d - s, '47h'],
    [2 * d, '2d'],
    [2 * d + h, '2d1h'],
    [8 * d - s, '7d23h'],
    [8 * d, '8d'],
    [8 * d + 23 * h, '8d'],
    [2 * y - s, '729d'],
    [2 * y, '2y'],
    [2 * y + d, '2y1d'],
    [3 * y, '3y'],
    [8 * y - s, '7y364d'],
    [8 * y, '8y'],
    [8 * y + 364 * d, '8y'],
  ])('%d ms is %s', (milliseconds, text) => {
    expect(humanDuration(milliseconds)).toBe(text);
  });

  it('never reads as longer than it is, and never loses more than a tenth beyond two minutes', () => {
    const unit = { s, m, h, d, y } as const;
    fc.assert(
      fc.property(fc.integer({ min: 2 * m, max: 30 * y }), (milliseconds) => {
        const parts = humanDuration(milliseconds).matchAll(/(\d+)([smhdy])/g);
        let shown = 0;
        for (const [, count, name] of parts) shown += Number(count) * unit[name as keyof typeof unit];
        expect(shown).toBeLessThanOrEqual(milliseconds);
        expect(milliseconds - shown).toBeLessThanOrEqual(milliseconds / 8);
      }),
    );
  });

  it('shows a value that is not a number as invalid', () => {
    expect(humanDuration(Number.NaN)).toBe('<invalid>');
  });
});

describe('age', () => {
  const now = new Date('2026-01-02T03:04:05Z');
  it('counts from the timestamp to now', () => {
    expect(age('2026-01-02T03:03:50Z', now)).toBe('15s');
    expect(age('2026-01-02T03:03:50.999Z', now)).toBe('14s');
  });
  it('shows a broken or future timestamp as invalid', () => {
    expect(age('yesterday', now)).toBe('<invalid>');
    expect(age('2026-01-02T03:05:05Z', now)).toBe('<invalid>');
  });
});
