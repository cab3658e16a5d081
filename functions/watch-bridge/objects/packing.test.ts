import { describe, expect, it } from 'vitest';
import { fc } from '#shared/testing';
import { packed, unpacked } from './packing.ts';

describe('packed', () => {
  const part = fc.oneof(
    fc.string({ unit: fc.constantFrom('a', 'b', '\xe4'), maxLength: 30 }),
    fc.string({ unit: fc.nat({ max: 255 }).map((code) => String.fromCharCode(code)), maxLength: 200 }),
    fc.constantFrom('release-0001234', '\0'.repeat(300), 'an order of many artifacts '.repeat(40)),
  );

  it('gives back every text of one-byte characters', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        expect(unpacked(packed(text))).toBe(text);
      }),
    );
  });

  it('says once what a text says twice', () => {
    const name = 'release-0001234';
    expect(packed(`${name}:${name}-9391271c`).length).toBe(2 + name.length + 1 + 2 + 1 + 9);
    expect(packed(name).length).toBe(name.length + 2);
  });

  it('takes time in proportion to the length of a text', () => {
    const text = 'sha256:0123456789abcdef/'.repeat(40_000);
    expect(unpacked(packed(text))).toBe(text);
    expect(packed(text).length).toBeLessThan(text.length / 7);
  });
});
