import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { pause } from './pause.ts';
import { FakeClock } from './testing/fake-clock.ts';

const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;

describe('pause', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('ends after its time and leaves nothing behind', async () => {
    const { signal } = new AbortController();
    const ended = vi.fn();
    const paused = pause(1000, signal).then(ended);
    await vi.advanceTimersByTimeAsync(999);
    expect(ended).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await paused;
    expect([listeners(signal), vi.getTimerCount()]).toEqual([0, 0]);
  });

  it('ends at once when the signal is aborted, before or meanwhile, and leaves nothing behind', async () => {
    const control = new AbortController();
    const paused = pause(600_000, control.signal);
    control.abort();
    await paused;
    await pause(600_000, control.signal);
    expect([listeners(control.signal), vi.getTimerCount()]).toEqual([0, 0]);
  });

  it('ends with the first of several signals', async () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const paused = pause(600_000, [one.signal, undefined, other.signal]);
    other.abort();
    await paused;
    expect([listeners(one.signal), listeners(other.signal), vi.getTimerCount()]).toEqual([0, 0, 0]);
  });

  it('waits by the clock it is given', async () => {
    const clock = new FakeClock();
    const paused = pause(1000, new AbortController().signal, clock);
    expect(vi.getTimerCount()).toBe(0);
    clock.advance(1000);
    await paused;
  });
});
