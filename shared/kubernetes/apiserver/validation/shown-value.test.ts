import { describe, expect, it } from 'vitest';
import { shownValue, typeName } from './shown-value.ts';

describe('shownValue', () => {
  it.each([
    ['a"b', '"a\\"b"'],
    [5, '5'],
    [undefined, 'null'],
    [{ a: [1] }, '{"a":[1]}'],
    ['ftp://me:secret@host', '"ftp://***@host"'],
  ])('shows %j', (value, text) => {
    expect(shownValue(value)).toBe(text);
  });
  it('cuts long values', () => {
    expect(shownValue('x'.repeat(5000)).length).toBeLessThan(200);
  });
});

describe('typeName', () => {
  it.each([
    [null, 'null'],
    [undefined, 'null'],
    [[], 'array'],
    [{}, 'object'],
    [1, 'integer'],
    [1.5, 'number'],
    ['', 'string'],
    [true, 'boolean'],
  ])('%j is %s', (value, name) => {
    expect(typeName(value)).toBe(name);
  });
});
