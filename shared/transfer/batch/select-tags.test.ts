import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { matchesGlob } from '../reference/glob.ts';
import { matchingTags, newestTags, type TagSelection } from './select-tags.ts';

const tags = [
  '1.0.0',
  '1.10.0',
  '1.2.0',
  'v2.0.0',
  '2.1.0-rc.1',
  'latest',
  'main',
  '1.2.0-alpine',
  `sha256-${'a'.repeat(64)}.sig`,
];
const select = (selection: TagSelection) => {
  const sorted = matchingTags(tags, selection, 'team/app');
  return selection.newest === undefined ? sorted : newestTags(sorted, selection.newest);
};

describe('the tags of a selection', () => {
  it.each<[TagSelection, string[]]>([
    [{}, ['2.1.0-rc.1', 'v2.0.0', '1.10.0', '1.2.0', '1.2.0-alpine', '1.0.0', 'latest', 'main']],
    [{ names: ['main', '1.0.0'] }, ['1.0.0', 'main']],
    [{ match: '1.*' }, ['1.10.0', '1.2.0', '1.2.0-alpine', '1.0.0']],
    [{ match: '*-alpine' }, ['1.2.0-alpine']],
    [{ semver: '^1.2' }, ['1.10.0', '1.2.0']],
    [{ semver: '>=2.0.0-0' }, ['2.1.0-rc.1', 'v2.0.0']],
    [{ newest: 2 }, ['v2.0.0', '1.10.0']],
    [{ newest: 1, match: '*-alpine' }, ['1.2.0-alpine']],
    [{ newest: 2, semver: '1.x' }, ['1.10.0', '1.2.0']],
    [{ match: 'sha256-*' }, []],
  ])('%j are %j', (selection, found) => {
    expect(select(selection)).toEqual(found);
  });

  it('are refused for a missing name and for an invalid range', () => {
    expect(() => select({ names: ['1.0.0', '9.9'] })).toThrow(
      /Repository team\/app has no tag 9\.9: correct spec\.tags\.names/,
    );
    expect(() => select({ semver: 'newest' })).toThrow(/spec\.tags\.semver "newest" is not a range/);
  });
});

describe('a pattern', () => {
  it.each([
    ['*', '', true],
    ['', 'a', false],
    ['v1.*', 'v1.2', true],
    ['v1.*', 'v11', false],
    ['?.?', '1.2', true],
    ['*a*b', 'xaayb', true],
    ['a*', 'ba', false],
    ['[a]', 'a', false],
  ])('%s of %s: %s', (pattern, text, fits) => {
    expect(matchesGlob(pattern, text)).toBe(fits);
  });

  it('matches like a regular expression', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 12 });
    const patterns = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*', '?'), maxLength: 6 });
    fc.assert(
      fc.property(patterns, letters, (pattern, text) => {
        const expression = pattern.replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll('?', '.');
        expect(matchesGlob(pattern, text)).toBe(new RegExp(`^${expression}$`).test(text));
      }),
    );
  });

  it('takes linear time for many stars', () => {
    expect(matchesGlob(`${'*a'.repeat(60)}b`, 'a'.repeat(128))).toBe(false);
  });
});
