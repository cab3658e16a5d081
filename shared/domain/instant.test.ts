import { describe, expect, it } from 'vitest';
import { fc } from '#shared/testing';
import { instantOf } from './instant.ts';

describe('instantOf', () => {
  it('reads what can be written again in four digits of a year', () => {
    const times = fc.date({
      min: new Date(0),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    });
    fc.assert(fc.property(times, (time) => instantOf(time.toISOString()) === time.getTime()));
  });

  it.each([
    undefined,
    '',
    'yesterday',
    '+012026-01-01T00:00:00Z',
    '-000001-01-01T00:00:00Z',
    '1969-12-31T00:00:00Z',
  ])('takes %j for no time', (text) => expect(instantOf(text)).toBeUndefined());
});
