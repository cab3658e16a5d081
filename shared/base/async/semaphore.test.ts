import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createSemaphore } from './semaphore.ts';

describe('createSemaphore', () => {
  it('never runs more than its size at once, in order, failures included', async () => {
    const slots = createSemaphore(2);
    const order: number[] = [];
    let running = 0;
    let most = 0;
    const work = (n: number) =>
      slots.run(async () => {
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

  it('lets nobody overtake: a freed slot goes to the first that waits', async () => {
    const slots = createSemaphore(1);
    const order: string[] = [];
    const free = await slots.acquire();
    const first = slots.run(async () => void order.push('first'));
    free();
    await slots.run(async () => void order.push('second'));
    await first;
    expect(order).toEqual(['first', 'second']);
  });

  it('lets owners take turns', async () => {
    const slots = createSemaphore(1);
    const order: string[] = [];
    const work = (namespace: string) =>
      slots.run(async () => void order.push(namespace), undefined, { namespace, order: 'x' });
    await Promise.all(['a', 'a', 'a', 'a', 'b', 'b', 'c'].map(work));
    expect(order).toEqual(['a', 'a', 'b', 'c', 'a', 'b', 'a']);
  });

  it('keeps a slot free for another namespace, and gives work without an owner every slot', async () => {
    const slots = createSemaphore(4);
    const order: string[] = [];
    const hold = (namespace: string) =>
      slots.acquire(undefined, { namespace, order: 'x' }).then(() => order.push(namespace));
    for (const namespace of ['a', 'a', 'a', 'b', 'b', 'c', 'd']) void hold(namespace);
    await new Promise(setImmediate);
    expect(order).toEqual(['a', 'a', 'b', 'c']);
    const whole = createSemaphore(4);
    expect(await Promise.all([1, 2, 3, 4].map(() => whole.acquire()))).toHaveLength(4);
  });

  it('rejects with the reason of the signal while it waits, and leaves nothing on the signal', async () => {
    const slots = createSemaphore(1);
    const free = await slots.acquire();
    const control = new AbortController();
    const waiting = slots.acquire(control.signal);
    control.abort(new Error('given up'));
    await expect(waiting).rejects.toThrow('given up');
    await expect(slots.acquire(control.signal)).rejects.toThrow('given up');
    expect(getEventListeners(control.signal, 'abort')).toHaveLength(0);
    free();
    expect(await slots.run(async () => 'next')).toBe('next');
  });

  it('starts what waits when the limit is raised', async () => {
    const slots = createSemaphore(1);
    await slots.acquire();
    const second = slots.run(async () => 'second');
    slots.limit = 2;
    expect(await second).toBe('second');
  });
});
