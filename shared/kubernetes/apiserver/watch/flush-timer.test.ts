import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { nextFlush } from './flush-timer.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Milliseconds until the next flush, which then takes `busy` ms. */
async function flush(busy: number): Promise<number> {
  const began = performance.now();
  let waited = 0;
  const written = nextFlush().then(() => {
    waited = performance.now() - began;
    spend(busy);
  });
  await vi.advanceTimersToNextTimerAsync();
  await written;
  await vi.advanceTimersToNextTimerAsync();
  return waited;
}

/** The clock, when it is next read, shows that a write has kept the event loop for `ms`. */
function spend(ms: number): void {
  vi.spyOn(performance, 'now').mockReturnValueOnce(performance.now() + ms);
}

describe('nextFlush', () => {
  it('is the same promise for all callers until it resolves', async () => {
    const first = nextFlush();
    expect(nextFlush()).toBe(first);
    await vi.advanceTimersByTimeAsync(100);
    await first;
  });

  it('comes later after a long flush, up to 100 ms', async () => {
    await flush(0);
    expect(await flush(5)).toBe(10);
    expect(await flush(1_000)).toBe(40);
    expect(await flush(0)).toBe(100);
    expect(await flush(0)).toBe(10);
  });
});
