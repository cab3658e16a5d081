import { describe, expect, it } from 'vitest';
import { readConfig } from '#shared/base/config';
import { environment } from './environment.ts';

describe('the environment of a function', () => {
  it('has a default for every variable, and uses the ones that are set', () => {
    expect(readConfig(environment, {})).toEqual({
      PORT: 8080,
      LOG_LEVEL: 'info',
      ARC_DEADLINE_SECONDS: 50,
      ARC_DRAIN_SECONDS: 25,
    });
    const env = {
      PORT: '0',
      K_SERVICE: 'svc',
      K_REVISION: 'svc-1',
      LOG_LEVEL: 'silent',
      ARC_DEADLINE_SECONDS: '1.5',
      ARC_DRAIN_SECONDS: '600',
    };
    expect(readConfig(environment, env)).toEqual({
      ...env,
      PORT: 0,
      ARC_DEADLINE_SECONDS: 1.5,
      ARC_DRAIN_SECONDS: 600,
    });
  });

  it.each([
    ['PORT', '65536', 'PORT: expected a whole number from 0 to 65535 (it is a whole number)'],
    ['PORT', '80.5', 'PORT: expected a whole number'],
    ['PORT', ' ', 'PORT: expected a whole number'],
    ['ARC_DEADLINE_SECONDS', '0', 'ARC_DEADLINE_SECONDS: expected a number from 1 to 600'],
    ['ARC_DRAIN_SECONDS', 'long', 'ARC_DRAIN_SECONDS: expected a number from 0 to 600'],
    ['LOG_LEVEL', 'chatty', 'LOG_LEVEL: expected one of trace, debug'],
  ])('%s of %j is refused', (name, value, message) => {
    expect(() => readConfig(environment, { [name]: value })).toThrow(message);
  });
});
