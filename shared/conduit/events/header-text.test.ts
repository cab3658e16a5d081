import { describe, expect, it } from 'vitest';
import { anyCharacter, fc } from '#shared/base/testing';
import { decodeHeaderText, encodeHeaderText } from './header-text.ts';

describe('header text', () => {
  it('comes back as it was, and is printable ASCII on the way', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        const encoded = encodeHeaderText(text);
        expect(encoded).toMatch(/^[\x21-\x7e]*$/);
        expect(decodeHeaderText(encoded)).toBe(text.toWellFormed());
      }),
    );
  });

  it.each([
    ['Euro € 😀', 'Euro%20%E2%82%AC%20%F0%9F%98%80'],
    ['a/b:c', 'a/b:c'],
    ['100%', '100%25'],
  ])('encodes %j as the specification does', (text, encoded) => {
    expect(encodeHeaderText(text)).toBe(encoded);
  });

  it.each([
    ['"quoted \\"text\\""', 'quoted "text"'],
    ['100%', '100%'],
    ['%ff', '%ff'],
    ['%zz%41', '%zzA'],
  ])('reads %j, which others send, as %j', (header, text) => {
    expect(decodeHeaderText(header)).toBe(text);
  });
});
