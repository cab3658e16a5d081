import { expect, it } from 'vitest';
import { parseQuantity } from './quantity.ts';

it.each([
  ['0', 0],
  ['10', 10],
  ['+10', 10],
  ['10k', 10_000],
  ['64Mi', 64 * 1024 ** 2],
  ['1Gi', 1024 ** 3],
  ['1.5Ki', 1536],
  ['.5k', 500],
  ['2.', 2],
  ['1e3', 1000],
  ['1E', 1e18],
  ['1E3', 1000],
])('reads %s', (text, value) => {
  expect(parseQuantity(text)).toBe(value);
});

it.each(['', '-1', '1.5', '100m', 'ten', '1 Mi', '1mi', '1K', '1Mib', '0x10', '1e-3', '9'.repeat(40)])(
  'refuses "%s"',
  (text) => {
    expect(parseQuantity(text)).toBeUndefined();
  },
);
