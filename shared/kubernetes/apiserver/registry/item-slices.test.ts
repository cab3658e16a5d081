import { expect, it } from 'vitest';
import { itemSlices } from './item-slices.ts';

const sizes = (slices: Iterable<readonly unknown[]>) => [...slices].map((slice) => slice.length);
const itemsOf = (...kilobytes: number[]) =>
  kilobytes.map((size, at) => ({ key: `/${at}`, revision: 2, value: new Uint8Array(size * 1024) }));

it('parts items by their number and by their bytes, without losing one', () => {
  expect(sizes(itemSlices([]))).toEqual([]);
  expect(sizes(itemSlices(itemsOf(...Array<number>(1200).fill(0))))).toEqual([500, 500, 200]);
  expect(sizes(itemSlices(itemsOf(1, 1, 1, 1, 1), 2))).toEqual([2, 2, 1]);
  expect(sizes(itemSlices(itemsOf(200, 200, 200, 1500, 100, 400, 100)))).toEqual([2, 1, 1, 2, 1]);
  const items = itemsOf(500, 500, 10, 600);
  expect([...itemSlices(items)].flat()).toEqual(items);
});
