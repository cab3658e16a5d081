import { describe, expect, it } from 'vitest';
import { newestFirst, versionOf } from './versions.ts';

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
