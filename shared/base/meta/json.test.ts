import { describe, expect, it } from 'vitest';
import { fc, runs } from '#shared/base/testing';
import { canonicalJson, isRecord, sameJson } from './json.ts';

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, reversed(inner)]),
  );
}

describe('isRecord', () => {
  it.each([null, undefined, [], 'x', 1, true])('refuses %j', (value) => expect(isRecord(value)).toBe(false));

  it('accepts objects with and without fields', () => {
    expect(isRecord({})).toBe(true);
    expect(isRecord(Object.create(null))).toBe(true);
    expect(isRecord({ a: 1 })).toBe(true);
  });
});

describe('canonical JSON', () => {
  it('is the same whatever the order of fields', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
      }),
    );
  });

  it('parses back to the value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('is what sameJson compares, without writing it', () => {
    const small = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom(0, -0, 1, '1', null, undefined, true, Number.NaN),
        fc.array(tie('value'), { maxLength: 2 }),
        fc.dictionary(fc.constantFrom('a', 'b', '__proto__', '1'), tie('value'), { maxKeys: 3 }),
      ),
    })).value;
    fc.assert(
      fc.property(small, small, (a, b) => {
        expect(sameJson(a, b)).toBe(canonicalJson(a) === canonicalJson(b));
        expect(sameJson(a, reversed(a))).toBe(true);
      }),
      { numRuns: runs(2000) },
    );
  });

  it('keeps the order of list items and leaves out undefined fields', () => {
    expect(sameJson([1, 2], [2, 1])).toBe(false);
    expect(sameJson({ a: 1, b: undefined }, { a: 1 })).toBe(true);
    expect(canonicalJson(undefined)).toBe('null');
  });
});
