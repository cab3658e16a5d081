import { describe, expect, it } from 'vitest';
import { createSlots } from './slots.ts';

describe('createSlots', () => {
  it('never runs more than its size at once, in order, failures included', async () => {
    const slot = createSlots(2);
    const order: number[] = [];
    let running = 0;
    let most = 0;
    const work = (n: number) =>
      slot(async () => {
        order.push(n);
        most = Math.max(most, ++running);
        await new Promise(setImmediate);
        running -= 1;
        if (n === 1) throw new Error('one fails');
      });
    const results = await Promise.allSettled([0, 1, 2, 3, 4].map(work));
    expect(order).toEqual([0, 1, 2, 3, 4]);
    expect(most).toBe(2);
    expect(results.filter((one) => one.status === 'rejected')).toHaveLength(1);
  });
});
