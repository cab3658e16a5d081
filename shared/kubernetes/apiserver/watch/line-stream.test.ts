import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LineStream, nextFlush } from './line-stream.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const mebibyte = () => new Uint8Array(1024 * 1024);

describe('LineStream', () => {
  it('does not delay the writer while the reader keeps up', async () => {
    const out = new LineStream(new AbortController());
    out.write(new Uint8Array(10));
    await out.drained();
    out.end();
    const reader = out.body.getReader();
    expect((await reader.read()).value).toHaveLength(10);
    expect((await reader.read()).done).toBe(true);
  });

  it('applies backpressure without losing a line', async () => {
    const stop = new AbortController();
    const out = new LineStream(stop);
    out.write(mebibyte());
    out.write(mebibyte());
    let free = false;
    const waiting = out.drained().then(() => {
      free = true;
    });
    await Promise.resolve();
    expect(free).toBe(false);
    const reader = out.body.getReader();
    await reader.read();
    await reader.read();
    await waiting;
    expect(stop.signal.aborted).toBe(false);
    out.write(new Uint8Array(3));
    expect((await reader.read()).value).toHaveLength(3);
  });

  it('ends the watch of a reader that reads nothing for 30 s', async () => {
    const stop = new AbortController();
    const out = new LineStream(stop);
    out.write(mebibyte());
    const waiting = out.drained();
    await vi.advanceTimersByTimeAsync(30_000);
    await waiting;
    expect(stop.signal.aborted).toBe(true);
  });

  it('ends the watch of a reader that has left, and ignores further lines', async () => {
    const stop = new AbortController();
    const out = new LineStream(stop);
    await out.body.cancel();
    expect(stop.signal.aborted).toBe(true);
    out.write(new Uint8Array(1));
    out.end();
  });
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Resolves with the milliseconds until the next flush, which then takes `busy` ms. */
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

/** Makes the next reading of the clock show that a write has blocked the event loop for `ms`. */
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

  it('is delayed after a long flush, by at most 100 ms', async () => {
    await flush(0);
    expect(await flush(5)).toBe(10);
    expect(await flush(1_000)).toBe(40);
    expect(await flush(0)).toBe(100);
    expect(await flush(0)).toBe(10);
  });
});
