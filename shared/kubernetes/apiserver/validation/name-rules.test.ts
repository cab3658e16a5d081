import { describe, expect, it } from 'vitest';
import { labelNameFaults, labelValueFaults, qualifiedFaults, subdomainFaults } from './name-rules.ts';

describe('names of objects', () => {
  it.each(['a', 'a.b', 'a-1.b', 'x'.repeat(253)])('accepts %s', (name) => {
    expect(subdomainFaults(name)).toEqual([]);
  });
  it.each(['', 'A', '-a', 'a..b', 'a_b'])('refuses "%s" with the pattern', (name) => {
    expect(subdomainFaults(name)).toEqual([expect.stringContaining("(e.g. 'example.com', regex used for")]);
  });
  it('rejects values that are too long', () => {
    expect(subdomainFaults('x'.repeat(254))).toEqual(['must be no more than 253 characters']);
    expect(labelNameFaults('x'.repeat(64))).toEqual(['must be no more than 63 characters']);
  });
  it('has no dots in the name of a namespace', () => {
    expect(labelNameFaults('a.b')).toHaveLength(1);
  });
});

describe('keys', () => {
  it.each(['a', 'A_b.c', 'example.com/A'])('accepts %s', (key) => {
    expect(qualifiedFaults(key)).toEqual([]);
  });
  it.each([
    ['/a', 'prefix part must be non-empty'],
    ['UP/a', 'prefix part a lowercase RFC 1123 subdomain'],
    ['a/', 'name part must be non-empty'],
    ['-a', 'name part must consist of'],
    ['a/b/c', 'a qualified name must consist of'],
    ['x'.repeat(64), 'name part must be no more than 63 characters'],
  ])('refuses %s', (key, fault) => {
    expect(qualifiedFaults(key)[0]).toContain(fault);
  });
});

describe('values of labels', () => {
  it('may be empty', () => {
    expect(labelValueFaults('')).toEqual([]);
  });
  it('have a maximum length and valid first and last characters', () => {
    expect(labelValueFaults('x'.repeat(64))).toEqual(['must be no more than 63 characters']);
    expect(labelValueFaults('-b')).toHaveLength(1);
  });
});
