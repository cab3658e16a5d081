import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { fc } from '#shared/base/testing';
import { parseDuration } from './duration.ts';

describe('parseDuration', () => {
  it.each([
    ['PT0.2S', 200],
    ['PT60S', 60_000],
    ['PT1M', 60_000],
    ['PT1H1M1S', 3_661_000],
    ['P1DT2H', 93_600_000],
  ])('reads %s', (text, ms) => expect(parseDuration(text, 'f')).toBe(ms));

  it.each(['', 'P', 'PT', '5s', 'P1M', 'PT-1S', 'P1DT'])('refuses "%s", naming the field', (text) => {
    expect(() => parseDuration(text, 'spec.delivery.timeout')).toThrow(ArcError);
    expect(() => parseDuration(text, 'spec.delivery.timeout')).toThrow(/^spec\.delivery\.timeout/);
  });

  it('adds its parts', () => {
    fc.assert(
      fc.property(fc.nat(99), fc.nat(99), fc.nat(99), (h, m, s) => {
        expect(parseDuration(`PT${h}H${m}M${s}S`, 'f')).toBe(((h * 60 + m) * 60 + s) * 1000);
      }),
    );
  });
});
