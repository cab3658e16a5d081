import { afterEach, describe, expect, it, vi } from 'vitest';
import { cachedCredentials } from './cached-credentials.ts';

const { signal } = new AbortController();
const minute = 60_000;

/** Lends for so many minutes; counts how often it is asked. */
function lender(minutes: number) {
  const state = { now: 0, asked: 0, fails: false };
  const fetch = cachedCredentials(
    async () => {
      state.asked += 1;
      if (state.fails) throw new Error('down');
      return { value: state.asked, expires: state.now + minutes * minute };
    },
    () => state.now,
  );
  return { state, fetch };
}

describe('cached credentials', () => {
  it('are fetched once for all callers, and again before they expire', async () => {
    const { state, fetch } = lender(60);
    expect(await Promise.all([fetch(signal), fetch(signal)])).toEqual([1, 1]);
    state.now = 54 * minute;
    expect(await fetch(signal)).toBe(1);
    state.now = 56 * minute;
    expect(await fetch(signal)).toBe(2);
    state.now = 100 * minute;
    expect(await fetch(signal)).toBe(2);
  });

  it('with a short lifetime are not fetched for each request', async () => {
    const { state, fetch } = lender(1);
    await fetch(signal);
    expect(await fetch(signal)).toBe(1);
    state.now = minute;
    expect(await fetch(signal)).toBe(2);
  });

  it('are fetched again after a failure', async () => {
    const { state, fetch } = lender(60);
    state.fails = true;
    await expect(fetch(signal)).rejects.toThrow('down');
    state.fails = false;
    expect(await fetch(signal)).toBe(2);
  });

  it('still reach the other waiters when the first one is aborted', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const fetch = cachedCredentials(async (shared) => {
      await promise;
      shared.throwIfAborted();
      return { value: 'issued', expires: 0 };
    });
    const first = new AbortController();
    const stopped = fetch(first.signal);
    const other = fetch(signal);
    first.abort(new Error('stopped'));
    await expect(stopped).rejects.toThrow('stopped');
    await expect(fetch(first.signal)).rejects.toThrow('stopped');
    resolve();
    expect(await other).toBe('issued');
  });
});

describe('a fetch that hangs', () => {
  afterEach(() => vi.useRealTimers());

  it('ends by its own deadline, and the next one starts anew', async () => {
    vi.useFakeTimers();
    let asked = 0;
    const fetch = cachedCredentials(async (shared) => {
      asked += 1;
      await new Promise((_, reject) => shared.addEventListener('abort', () => reject(shared.reason)));
      return { value: 'issued', expires: 0 };
    });
    for (const times of [1, 2]) {
      const failed = expect(fetch(signal)).rejects.toThrow('no answer');
      await vi.advanceTimersByTimeAsync(2 * minute);
      await failed;
      expect(asked).toBe(times);
    }
  });
});
