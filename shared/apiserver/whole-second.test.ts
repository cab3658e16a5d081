import { describe, expect, it } from 'vitest';
import { wholeSecond } from './whole-second.ts';

describe('wholeSecond', () => {
  it('leaves fractions out', () => {
    expect(wholeSecond(new Date('2026-01-02T03:04:05.678Z'))).toBe('2026-01-02T03:04:05Z');
  });
});
