import { expect, it } from 'vitest';
import { boundBodyBytes } from './body-bytes.ts';
import { refusals } from './slots.ts';

const refuse = refusals(() => undefined);
const tooMany = expect.objectContaining({ code: 'TooManyRequests' });

it('limits the bytes of a flow until they are released', () => {
  const bodies = boundBodyBytes({ body: 3, flow: 10, total: 100 }, refuse);
  for (let index = 0; index < 10; index++) bodies.reserve('greedy', 1);
  expect(() => bodies.reserve('greedy', 1)).toThrow(tooMany);
  bodies.reserve('modest', 3);
  bodies.release('greedy', 2);
  bodies.reserve('greedy', 2);
});

it('limits each flow to an equal share above the total, but always grants one body', () => {
  const bodies = boundBodyBytes({ body: 3, flow: 10, total: 20 }, refuse);
  bodies.reserve('a', 10);
  bodies.reserve('b', 9);
  expect(() => bodies.reserve('b', 2)).toThrow(tooMany);
  for (const modest of ['c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']) bodies.reserve(modest, 3);
  expect(() => bodies.reserve('c', 1)).toThrow(tooMany);
  bodies.release('c', 3);
  bodies.reserve('c', 3);
});
