import { describe, expect, it } from 'vitest';
import { isSelected } from './path-patterns.ts';

describe('a pattern', () => {
  it.each([
    ['*.tgz', 'a.tgz', true],
    ['*.tgz', 'deep/er/a.tgz', true],
    ['*.tgz', 'a.tgz/b', false],
    ['/*.tgz', 'a.tgz', true],
    ['/*.tgz', 'deep/a.tgz', false],
    ['/docs/**', 'docs/a/b.txt', true],
    ['docs/*.txt', 'x/docs/b.txt', true],
    ['docs/*.txt', 'x/docs/a/b.txt', false],
    ['docs/', 'x/docs/a/b.txt', true],
    ['/docs/', 'x/docs/a/b.txt', false],
    ['/a/**/z', 'a/z', true],
    ['/a/**/z', 'a/b/c/z', true],
    ['/a/**/z', 'a/b/c/y', false],
    ['?.txt', 'a.txt', true],
    ['?.txt', 'ab.txt', false],
    ['**', 'any/thing', true],
  ])('%s and %s', (pattern, path, fits) => {
    expect(isSelected({ include: [pattern] }, path)).toBe(fits);
    expect(isSelected({ exclude: [pattern] }, path)).toBe(!fits);
  });

  it('of exclude wins over one of include, and without a pattern everything matches', () => {
    expect(isSelected({}, 'a')).toBe(true);
    expect(isSelected({ include: ['*.txt'], exclude: ['a*'] }, 'a.txt')).toBe(false);
    expect(isSelected({ include: ['*.txt'], exclude: ['a*'] }, 'b.txt')).toBe(true);
  });

  it('takes linear time, whatever it is', () => {
    const started = performance.now();
    expect(isSelected({ include: [`${'**/*a*a*/'.repeat(50)}b`] }, 'a/'.repeat(500))).toBe(false);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});
