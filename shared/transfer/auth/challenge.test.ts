import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { parseChallenges } from './challenge.ts';

describe('WWW-Authenticate', () => {
  it.each([
    ['Basic', [{ scheme: 'basic', parameters: {} }]],
    ['Basic realm="a, \\"b\\""', [{ scheme: 'basic', parameters: { realm: 'a, "b"' } }]],
    [
      'Bearer realm="https://auth.r.io/token",service="r.io",scope="repository:a:pull,push"',
      [
        {
          scheme: 'bearer',
          parameters: { realm: 'https://auth.r.io/token', service: 'r.io', scope: 'repository:a:pull,push' },
        },
      ],
    ],
    [
      'Bearer realm="x", Basic realm=y',
      [
        { scheme: 'bearer', parameters: { realm: 'x' } },
        { scheme: 'basic', parameters: { realm: 'y' } },
      ],
    ],
    ['', []],
  ])('of %j is parsed', (header, challenges) => {
    expect(parseChallenges(header)).toEqual(challenges);
  });

  it('of any content yields a list', () => {
    fc.assert(fc.property(fc.string({ maxLength: 200 }), (header) => Array.isArray(parseChallenges(header))));
  });
});
