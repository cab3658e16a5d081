import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { versionInfo } from './version.ts';

describe('versionInfo', () => {
  it.each([
    ['v1.34.2', '1', '34', 'v1.34.2'],
    ['1.34.0-rc.1+arc.0.1.0', '1', '34', 'v1.34.0-rc.1+arc.0.1.0'],
  ])('reports %s', (version, major, minor, gitVersion) => {
    expect(versionInfo(version)).toMatchObject({ major, minor, gitVersion });
  });
  it.each(['', '1.34', 'latest', 'v1.34.0 '])('refuses "%s", which kubectl could not read', (version) => {
    expect(() => versionInfo(version)).toThrow(ArcError);
  });
});
