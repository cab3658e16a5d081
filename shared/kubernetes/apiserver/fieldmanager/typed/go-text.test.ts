import { describe, expect, it } from 'vitest';
import { goSyntax, goType, goValue } from './go-text.ts';

describe('values as Go prints them', () => {
  it.each([
    [
      { b: [1, 'x'], a: null },
      'map[a:<nil> b:[1 x]]',
      'map[string]interface {}{"a":interface {}(nil), "b":[]interface {}{1, "x"}}',
    ],
    ['x', 'x', '"x"'],
    [true, 'true', 'true'],
  ])('%j', (value, plain, syntax) => {
    expect([goValue(value), goSyntax(value)]).toEqual([plain, syntax]);
  });

  it('are cut', () => {
    expect(goValue('x'.repeat(1000))).toHaveLength(201);
  });

  it('have types', () => {
    expect([[], {}, true, 'x'].map(goType)).toEqual([
      '[]interface {}',
      'map[string]interface {}',
      'bool',
      'string',
    ]);
  });
});
