import { describe, expect, it } from 'vitest';
import { fc, runs } from '#shared/base/testing';
import { createBoundedCache, joinLines } from './encode-event.ts';

describe('joinLines', () => {
  const lines = ['a\n', 'b\n', 'c\n'].map((text) => Buffer.from(text));
  const [first = Buffer.alloc(0)] = lines;

  it('gives watches that send the same lines the same bytes', () => {
    const chunk = joinLines(lines);
    expect(Buffer.from(chunk).toString()).toBe('a\nb\nc\n');
    expect(joinLines([...lines])).toBe(chunk);
    expect(joinLines([first])).toBe(first);
  });

  it.each([
    ['fewer lines', lines.slice(1), 'b\nc\n'],
    ['lines in another order', lines.toReversed(), 'c\nb\na\n'],
    ['more lines', [...lines, first], 'a\nb\nc\na\n'],
  ])('joins %s anew', (_what, other, text) => {
    joinLines(lines);
    expect(Buffer.from(joinLines(other)).toString()).toBe(text);
  });
});

describe('createBoundedCache', () => {
  it('keeps the newest values within its limit, and always the last value', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 3000 }),
        fc.integer({ min: 1, max: 200 }),
        (sizes, limit) => {
          const cache = createBoundedCache<object, number>(limit);
          const keys = sizes.map(() => ({}));
          for (const [index, key] of keys.entries()) cache.set(key, index, sizes[index] ?? 0);
          const kept = keys.map((key) => cache.get(key) !== undefined);
          const first = kept.indexOf(true);
          expect(kept.slice(first).every(Boolean)).toBe(true);
          const bytes = sizes.slice(first).reduce((sum, size) => sum + size, 0);
          expect(first === keys.length - 1 || bytes <= limit).toBe(true);
          // Nothing was evicted that would have fitted.
          expect(first === 0 || bytes + (sizes[first - 1] ?? 0) > limit).toBe(true);
        },
      ),
      { numRuns: runs(50) },
    );
  });

  it('has no value for an unknown key', () => {
    expect(createBoundedCache<object, string>(10).get({})).toBeUndefined();
  });
});
