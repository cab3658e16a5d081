import { describe, expect, it } from 'vitest';
import { selectVersion } from './select-version.ts';

const listed = (...versions: string[]) =>
  versions.map((version) => ({
    version,
    deprecated: version.includes('9'),
    removed: version.startsWith('7'),
  }));
const select = (wanted: string | undefined, ...versions: string[]) =>
  selectVersion(listed(...versions), wanted, 'chart demo').version;

describe('the version of a chart', () => {
  it.each([
    [undefined, ['1.0.0', '2.0.0', '3.0.0-rc.1'], '2.0.0'],
    ['latest', ['1.0.0', '2.0.0'], '2.0.0'],
    ['^1', ['1.0.0', '1.2.0', '2.0.0'], '1.2.0'],
    // As Helm takes it: the exact name first, then as a range, with or without a v.
    ['v0.1.0', ['0.1.0'], '0.1.0'],
    ['1.0.0+b', ['1.0.0+b', '1.0.0+c'], '1.0.0+b'],
    ['3.0.0-rc.1', ['3.0.0-rc.1'], '3.0.0-rc.1'],
    // Deprecated ones only where there is nothing else, or by their name; removed ones never.
    ['*', ['1.0.0', '1.9.0'], '1.0.0'],
    ['*', ['1.9.0', 'nonsense'], '1.9.0'],
    ['1.9.0', ['1.0.0', '1.9.0'], '1.9.0'],
    ['*', ['1.0.0', '7.0.0'], '1.0.0'],
  ])('%s of %j is %s', (wanted, versions, found) => {
    expect(select(wanted, ...versions)).toBe(found);
  });

  it.each([
    [
      '^3',
      ['1.0.0'],
      'permanent',
      /no version of chart demo that matches spec.version "\^3": it has 1.0.0\./,
    ],
    [undefined, ['1.0.0-rc.1'], 'permanent', /that is no prerelease: it has 1.0.0-rc.1/],
    ['7.0.0', ['7.0.0'], 'permanent', /removed by its publisher/],
    ['newest', ['1.0.0'], 'config', /spec.version "newest" is neither/],
    ['1', [], 'permanent', /The chart demo has no version: check/],
  ])('%s of %j does not exist', (wanted, versions, reason, message) => {
    expect(() => select(wanted, ...versions)).toThrow(
      expect.objectContaining({ reason, message: expect.stringMatching(message) }),
    );
  });

  it('names some of many versions', () => {
    const versions = Array.from({ length: 30 }, (_, at) => `1.0.${at + 100}`);
    expect(() => select('^2', ...versions)).toThrow(/1\.0\.129.* and 20 more/);
  });
});
