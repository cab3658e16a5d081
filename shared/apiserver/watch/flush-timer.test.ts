import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { nextFlush } from './flush-timer.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** ms until the next beat; whoever waits for it then writes for `busy` ms. */
async function beat(busy: number): Promise<number> {
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
  it('is the same for all who ask before it comes', async () => {
    const first = nextFlush();
    expect(nextFlush()).toBe(first);
    await vi.advanceTimersByTimeAsync(100);
    await first;
  });

  it('comes later after one whose writes took long, up to a tenth of a second', async () => {
    await beat(0);
    expect(await beat(5)).toBe(10);
    expect(await beat(1_000)).toBe(40);
    expect(await beat(0)).toBe(100);
    expect(await beat(0)).toBe(10);
  });
});
