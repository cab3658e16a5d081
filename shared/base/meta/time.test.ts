import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { instantOf, isoMicroseconds, isoSeconds } from './time.ts';

const times = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true });

describe('isoSeconds', () => {
  it('cuts fractions of a second', () => {
    expect(isoSeconds(new Date('2026-01-02T03:04:05.678Z'))).toBe('2026-01-02T03:04:05Z');
    expect(isoSeconds(Date.UTC(2026, 0, 2, 3, 4, 5, 999))).toBe('2026-01-02T03:04:05Z');
  });
});

describe('isoMicroseconds', () => {
  it('writes six digits of fraction', () => {
    expect(isoMicroseconds(new Date('2026-01-02T03:04:05.678Z'))).toBe('2026-01-02T03:04:05.678000Z');
  });
});

describe('instantOf', () => {
  it('reads every time that can be written again with a year of four digits', () => {
    fc.assert(fc.property(times, (time) => instantOf(time.toISOString()) === time.getTime()));
  });

  it('reads whole seconds back', () => {
    fc.assert(
      fc.property(times, (time) => instantOf(isoSeconds(time)) === Math.floor(time.getTime() / 1000) * 1000),
    );
  });

  it.each([
    undefined,
    '',
    'yesterday',
    '+012026-01-01T00:00:00Z',
    '-000001-01-01T00:00:00Z',
    '1969-12-31T00:00:00Z',
  ])('gives undefined for %j', (text) => expect(instantOf(text)).toBeUndefined());
});
