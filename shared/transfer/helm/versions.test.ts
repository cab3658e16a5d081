import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { newestFirst, versionOf, versionRange } from './versions.ts';

const fits = (range: string, version: string): boolean | undefined => {
  const parsed = versionOf(version);
  return parsed && versionRange(range)?.(parsed);
};

describe('a version', () => {
  it.each([
    ['1.2.3', '1.2.3'],
    ['v1.2.3', '1.2.3'],
    ['1.2', '1.2.0'],
    ['v3', '3.0.0'],
    ['2024.01.05', '2024.1.5'],
    ['1.2-rc.1+build', '1.2.0-rc.1'],
  ])('may be written as %s', (text, version) => {
    expect(versionOf(text)?.version).toBe(version);
  });

  it.each(['', 'latest', '1.2.3.4', 'x1', '1..2', '1.2.3beta', 'sha256-ab', `1.0.${'9'.repeat(400)}`])(
    'is not %s',
    (text) => {
      expect(versionOf(text)).toBeUndefined();
    },
  );

  it('sorts before older ones', () => {
    const sorted = ['1.0.0', '1.10.0', '1.2.0', '2.0.0-rc.1', '1.10.0+b', '1.10.0+a'].map(versionOf);
    expect(
      sorted
        .filter((one) => one !== undefined)
        .toSorted(newestFirst)
        .map(({ raw }) => raw),
    ).toEqual([...['2.0.0-rc.1', '1.10.0+b', '1.10.0+a', '1.10.0', '1.2.0', '1.0.0']]);
  });
});

describe('a range', () => {
  it.each([
    ['^1.2', '1.9.0', true],
    ['^1.2', '2.0.0', false],
    ['~1.2.0', '1.2.9', true],
    ['>=1.2, <2', '1.5.0', true],
    ['>= 1.2, < 2', '2.0.0', false],
    ['1.x || 3.x', '3.1.0', true],
    ['>=1.0.0 !=1.3.0', '1.3.0', false],
    ['1.0 - 1.4', '1.4.7', true],
    ['v0.1.0', '0.1.0', true],
    ['=>1', '1.0.0', true],
    ['*', '9.9.9', true],
    ['*', '9.9.9-rc.1', false],
    ['>=1.0.0-0', '1.5.0-rc.1', true],
    // Helm: a bound without a prerelease takes none.
    ['>=1.0.0-0 <2.0.0', '1.5.0-rc.1', false],
  ])('%s and %s: %s', (range, version, result) => {
    expect(fits(range, version)).toBe(result);
  });

  it.each(['nonsense', '1.2.3.4', '^1 nonsense', `>=${'1'.repeat(300)}`])('is not %s', (range) => {
    expect(versionRange(range)).toBeUndefined();
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123.xX*^~<>=!|-+ ,v') }), (text) => {
        const takes = versionRange(text);
        if (takes) expect([true, false]).toContain(takes(versionOf('1.2.3') ?? expect.fail()));
      }),
    );
  });
});
