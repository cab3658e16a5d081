import { expect, it } from 'vitest';
import { closest } from './closest.ts';

const kinds = ['orders', 'artifactworkflows', 'endpoints', 'artifacttypes', 'aw', 'at'];

it.each([
  ['ordrs', 'orders'],
  ['Order', 'orders'],
  ['endpionts', 'endpoints'],
  ['artefacttypes', 'artifacttypes'],
  ['ow', 'aw'],
  ['pods', undefined],
  ['x'.repeat(100_000), undefined],
  ['', undefined],
])('%s: is it %s?', (word, expected) => {
  expect(closest(word, kinds)).toBe(expected);
});
