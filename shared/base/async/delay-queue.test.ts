import { describe, expect, it, vi } from 'vitest';
import { fc } from '#shared/base/testing';
import { systemClock } from './clock.ts';
import { DelayQueue } from './delay-queue.ts';
import { FakeClock } from './testing/fake-clock.ts';

describe('DelayQueue', () => {
  it('fires each key once, at its last time, in the order of time', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 1, max: 1000 })), {
          maxLength: 300,
        }),
        (entries) => {
          const clock = new FakeClock();
          const fired: { key: string; at: number }[] = [];
          const queue = new DelayQueue<number>(clock, (key) => fired.push({ key, at: clock.now() }));
          const last = new Map<string, number>();
          for (const [key, at] of entries) {
            queue.set(`k${key}`, at, at);
            last.set(`k${key}`, at);
          }
          clock.advance(1000);
          expect(new Map(fired.map(({ key, at }) => [key, at]))).toEqual(last);
          expect(fired.length).toBe(last.size);
          expect(fired.map(({ at }) => at)).toEqual(fired.map(({ at }) => at).sort((a, b) => a - b));
          expect(queue.size).toBe(0);
        },
      ),
    );
  });

  it('never fires a deleted key', () => {
    const clock = new FakeClock();
    const fired: string[] = [];
    const queue = new DelayQueue<undefined>(clock, (key) => fired.push(key));
    queue.set('a', 10, undefined);
    queue.set('b', 20, undefined);
    queue.delete('a');
    clock.advance(100);
    expect(fired).toEqual(['b']);
  });

  it('waits for a time that is further away than one timer can hold', () => {
    const clock = new FakeClock();
    const fired: number[] = [];
    const queue = new DelayQueue<undefined>(clock, () => fired.push(clock.now()));
    const month = 30 * 24 * 3600 * 1000;
    queue.set('a', month, undefined);
    clock.advance(month - 1);
    expect(fired).toEqual([]);
    clock.advance(1);
    expect(fired).toEqual([month]);
  });

  it('fires in time on real timers, which hold less than 2^31 ms', () => {
    vi.useFakeTimers();
    try {
      const due = vi.fn();
      const queue = new DelayQueue<string>(systemClock, due);
      const start = Date.now();
      queue.set('late', start + 2 ** 31, 'l');
      queue.set('b', start + 2000, 'b');
      queue.set('a', start + 1000, 'a');
      queue.set('gone', start + 1000, '');
      queue.delete('gone');
      vi.advanceTimersByTime(1500);
      expect(due.mock.calls).toEqual([['a', 'a']]);
      vi.advanceTimersByTime(1000);
      expect(due).toHaveBeenLastCalledWith('b', 'b');
      vi.advanceTimersByTime(2 ** 31);
      expect(due.mock.calls).toEqual([
        ['a', 'a'],
        ['b', 'b'],
        ['late', 'l'],
      ]);
      queue.close();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('takes entries that its own callback sets', () => {
    const clock = new FakeClock();
    const fired: number[] = [];
    const queue: DelayQueue<undefined> = new DelayQueue(clock, (key) => {
      fired.push(clock.now());
      if (fired.length < 3) queue.set(key, clock.now() + 10, undefined);
    });
    queue.set('a', 10, undefined);
    clock.advance(100);
    expect(fired).toEqual([10, 20, 30]);
  });
});
