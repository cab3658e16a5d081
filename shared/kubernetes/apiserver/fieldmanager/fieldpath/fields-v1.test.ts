import { describe, expect, it } from 'vitest';
import { readFieldsV1 } from './fields-v1.ts';

describe('readFieldsV1', () => {
  it('brings steps into canonical form', () => {
    expect(readFieldsV1({ 'f:a': { '.': {}, 'k:{"b":1, "a":2}': {} } })).toEqual({
      'f:a': { '.': {}, 'k:{"a":2,"b":1}': {} },
    });
  });

  it('leaves out marks that say nothing and steps of unknown kinds', () => {
    expect(readFieldsV1({ '.': {}, 'f:a': { '.': {} }, 'x:new': {} })).toEqual({ 'f:a': {} });
    expect(readFieldsV1(null)).toEqual({});
  });

  it.each([[1], [[]], [{ bad: {} }], [{ 'f:a': 1 }], [{ 'f:a': null }]])('refuses %j', (value) => {
    expect(() => readFieldsV1(value)).toThrow(SyntaxError);
  });
});
