import { describe, expect, it } from 'vitest';
import { plainScalar } from './plain-scalar.ts';

describe('plainScalar', () => {
  it.each([
    ['yes', true],
    ['Off', false],
    ['y', true],
    ['~', null],
    ['', null],
    ['012', 10],
    ['0o14', 12],
    ['0x1F', 31],
    ['0b11', 3],
    ['1_000', 1000],
    ['-_0', 0],
    ['+_1', 1],
    ['0_x1', 1],
    ['.5_0', 0.5],
    ['+1', 1],
    ['-0', 0],
    ['-012', -10],
    ['08', 8],
    ['.5', 0.5],
    ['1e3', 1000],
    ['.inf', Number.NaN],
  ])('takes %s for a value', (text, value) => {
    expect(plainScalar(text)).toBe(value);
  });

  it.each([
    'yEs',
    'nULL',
    '1:20',
    '2020-01-01',
    '1e400',
    '0b12',
    '1.2.3',
    '-',
    '<<',
    '=',
    '._5',
    '.5_',
    '-_',
  ])('takes %s for a text', (text) => {
    expect(plainScalar(text)).toBe(text);
  });
});
