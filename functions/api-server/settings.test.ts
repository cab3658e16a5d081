import { describe, expect, it } from 'vitest';
import { readConfig } from '#shared/base/config';
import { settings } from './settings.ts';

describe('settings', () => {
  it('reads limits, and the users that meet none', () => {
    const env = { ARC_MAX_WATCHES_PER_USER: '20', ARC_EXEMPT_USERS: 'a, system:serviceaccounts:b,' };
    expect(readConfig(settings, env)).toMatchObject({
      ARC_MAX_READS: 400,
      ARC_MAX_WATCHES_PER_USER: 20,
      ARC_EXEMPT_USERS: ['a', 'system:serviceaccounts:b'],
    });
  });

  it.each(['0', '1.5', 'many', '100001'])('refuses a limit of %s and shows it', (value) => {
    expect(() => readConfig(settings, { ARC_MAX_WRITES: value })).toThrow(
      /ARC_MAX_WRITES: must be a whole number from 1 to 100000, not (0|1\.5|NaN|100001)/,
    );
  });
});
