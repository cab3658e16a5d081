import { expect, it } from 'vitest';
import { orderProgress } from './order-progress.ts';

const mebibyte = 1024 * 1024;
const bytes = (done: number, total: number) => ({ done: done * mebibyte, total: total * mebibyte });

it('adds up bytes, rate and time of what runs and what has arrived', () => {
  const pace = { bytesPerSecond: mebibyte, secondsLeft: 6 };
  const parts = [
    { isDone: true, bytes: bytes(10, 10) },
    { isDone: false, bytes: bytes(4, 10), pace },
    { isDone: false, bytes: bytes(4, 10), pace },
  ];
  expect(orderProgress(parts)).toEqual({
    share: 18 / 30,
    bytes: 18 * mebibyte,
    isEstimate: false,
    bytesPerSecond: 2 * mebibyte,
    secondsLeft: 6,
  });
});

it('estimates what has not started by the mean of the others, and says so', () => {
  const parts = [{ isDone: true, bytes: bytes(10, 10) }, { isDone: false }];
  expect(orderProgress(parts)).toEqual({ share: 0.5, bytes: 10 * mebibyte, isEstimate: true });
});

it('counts artifacts where no size is known: those that count steps too', () => {
  const parts = [{ isDone: true }, { isDone: false, share: 0.5 }, { isDone: false }];
  expect(orderProgress(parts)).toEqual({ share: 0.5, bytes: 0, isEstimate: true });
  expect(orderProgress([])).toEqual({ share: 0, bytes: 0, isEstimate: false });
  expect(orderProgress([{ isDone: true, bytes: bytes(0, 0) }]).share).toBe(1);
});
