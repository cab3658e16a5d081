import { describe, expect, it } from 'vitest';
import { anyCharacter, fc } from '#shared/base/testing';
import { checkKey, compareKeys, maxKeyBytes } from './keys.ts';

const anyKey = fc.string({ unit: anyCharacter, maxLength: 8 });

describe('compareKeys', () => {
  it('orders as the UTF-8 bytes do', () => {
    fc.assert(
      fc.property(anyKey, anyKey, (a, b) => {
        expect(Math.sign(compareKeys(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
    );
  });

  it('puts a surrogate pair after the last characters of sixteen bits', () => {
    expect(compareKeys('\u{1f600}', '\uff5e')).toBeGreaterThan(0);
    expect(compareKeys('a\u{1f600}', 'a\u{1f601}')).toBeLessThan(0);
  });
});

describe('checkKey', () => {
  it('accepts keys up to the limit, counted in bytes', () => {
    expect(() => checkKey('k'.repeat(maxKeyBytes))).not.toThrow();
    expect(() => checkKey('é'.repeat(maxKeyBytes / 2))).not.toThrow();
    expect(() => checkKey(`${'é'.repeat(maxKeyBytes / 2)}k`)).toThrow(/longer than 1024 bytes/);
  });

  it('refuses an empty key and half a surrogate pair', () => {
    expect(() => checkKey('')).toThrow(/empty/);
    expect(() => checkKey('/\udc00')).toThrow(/Unicode/);
  });
});
