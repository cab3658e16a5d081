import { describe, expect, it } from 'vitest';
import { shortHash } from './hash.ts';

describe('shortHash', () => {
  it('is 16 hex digits, the same whatever the order of fields', () => {
    expect(shortHash({ a: 1, b: [{ c: 2, d: 3 }] })).toMatch(/^[0-9a-f]{16}$/);
    expect(shortHash({ b: [{ d: 3, c: 2 }], a: 1 })).toBe(shortHash({ a: 1, b: [{ c: 2, d: 3 }] }));
    expect(shortHash({ a: 1 })).not.toBe(shortHash({ a: 2 }));
  });
});
