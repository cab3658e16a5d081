import { beforeEach, expect, it } from 'vitest';
import { type Budgets, createBudgets } from './budgets.ts';

let clock: number;
let budgets: Budgets;
beforeEach(() => {
  clock = 0;
  budgets = createBudgets({ burst: 2, perSecond: 0.1, most: 3, now: () => clock });
});

it('says after how many seconds a used budget has something again', () => {
  expect([budgets.take('a'), budgets.take('a'), budgets.take('a'), budgets.take('b')]).toEqual([0, 0, 10, 0]);
  clock = 4_000;
  expect(budgets.take('a')).toBe(6);
  clock = 10_000;
  expect([budgets.take('a'), budgets.take('a')]).toEqual([0, 10]);
});

it('gets back what was taken for nothing, and no more than the burst', () => {
  for (let round = 0; round < 10; round += 1) {
    expect(budgets.take('a')).toBe(0);
    budgets.giveBack('a');
  }
  expect([budgets.take('a'), budgets.take('a'), budgets.take('a')]).toEqual([0, 0, 10]);
});

it('forgets those that have not asked for longest', () => {
  for (const key of ['a', 'a', 'b', 'c', 'd']) budgets.take(key);
  expect(budgets.size).toBe(3);
  expect([budgets.take('a'), budgets.take('d')]).toEqual([0, 0]);
});
