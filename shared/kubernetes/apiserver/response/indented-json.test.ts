import { expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { indentedJson } from './indented-json.ts';

const written = (value: unknown) => [...indentedJson(value)].join('');

it('equals JSON.stringify', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      expect(written(value)).toBe(JSON.stringify(value, undefined, 2));
    }),
  );
  const sparse = { a: undefined, b: [undefined, 1], c: {}, d: [] };
  expect(written(sparse)).toBe(JSON.stringify(sparse, undefined, 2));
});

it('writes it in pieces, and an iterable as a list', () => {
  const list = Array.from({ length: 2_000 }, (_, index) => ({ index, text: 'x'.repeat(50) }));
  const pieces = [...indentedJson({ items: list.values() })];
  expect(pieces.join('')).toBe(JSON.stringify({ items: list }, undefined, 2));
  expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(40_000);
});
