import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { exceededLimit, scanJson } from './json-scan.ts';

const unlimited = {
  depth: Number.POSITIVE_INFINITY,
  values: Number.POSITIVE_INFINITY,
  fields: Number.POSITIVE_INFINITY,
};
const nestsDeeper = (text: string, depth: number) => exceededLimit(text, { ...unlimited, depth }) === 'depth';

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe('scanJson', () => {
  it('finds no duplicates and the right depth in output of JSON.stringify, regardless of indentation', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 3 }), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        expect(scanJson(text).duplicates).toEqual([]);
        expect(nestsDeeper(text, depthOf(value))).toBe(false);
        expect(nestsDeeper(text, depthOf(value) - 1)).toBe(depthOf(value) > 0);
      }),
    );
  });

  it('names the path of every key that occurs twice', () => {
    const text = '{"a":1,"b":[{"c":1,"c":"}{,"},{"c":2}],"a":{"d":0,"\\u0064":1}}';
    expect(scanJson(text).duplicates).toEqual(['b[0].c', 'a', 'a.d']);
  });

  it('finds a prototype key in any spelling, and only as a key', () => {
    expect(scanJson('{"a":{"__proto__":1}}').prototypeKey).toBe(true);
    expect(scanJson('{"\\u005f_proto__":1}').prototypeKey).toBe(true);
    expect(scanJson('{"a":"__proto__"}').prototypeKey).toBe(false);
  });

  it('is not misled by quotes and backslashes in strings', () => {
    expect(scanJson('{"a":"\\\\","b":"\\"","a":1}').duplicates).toEqual(['a']);
  });

  it('walks nesting that would overflow a recursive walk', () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    expect(nestsDeeper(deep, 200_000)).toBe(false);
    expect(nestsDeeper(deep, 199_999)).toBe(true);
    expect(scanJson(deep).duplicates).toEqual([]);
  });

  it('measures the depth of invalid text too', () => {
    expect(nestsDeeper('[[[', 2)).toBe(true);
    expect(nestsDeeper('"[[[', 2)).toBe(false);
    expect(nestsDeeper(']]]"', 2)).toBe(false);
  });
});
