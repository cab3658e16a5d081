import { describe, expect, it, vi } from 'vitest';
import { createLimiter, createLimiters } from './limiter.ts';

const signal = new AbortController().signal;

describe('the limiter of a host', () => {
  it('runs no more operations at a time than its limit', async () => {
    const limiter = createLimiter({ max: 2 });
    let running = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
    };
    await Promise.all(Array.from({ length: 9 }, () => limiter.run(signal, work)));
    expect(most).toBe(2);
  });

  it('halves its limit once per burst of refusals, never below one, and recovers', async () => {
    let now = 0;
    const limiter = createLimiter({ now: () => now });
    limiter.slowDown(10);
    limiter.slowDown(10);
    expect(limiter.limit).toBe(4);
    for (let burst = 0; burst < 5; burst += 1) {
      now += 100;
      limiter.slowDown(10);
    }
    expect(limiter.limit).toBe(1);
    now += 100;
    for (let success = 0; success < 50; success += 1) await limiter.run(signal, async () => {});
    expect(limiter.limit).toBe(8);
  });

  it('frees the slot of an operation that fails', async () => {
    const limiter = createLimiter({ max: 1 });
    await expect(limiter.run(signal, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await limiter.run(signal, async () => 'next')).toBe('next');
  });

  it('drops a waiting request that is aborted and serves the next', async () => {
    const limiter = createLimiter({ max: 1 });
    const gate = Promise.withResolvers<void>();
    const first = limiter.run(signal, () => gate.promise);
    const controller = new AbortController();
    const second = limiter.run(controller.signal, async () => 'second');
    controller.abort();
    await expect(second).rejects.toMatchObject({ reason: 'retryable' });
    gate.resolve();
    await first;
    expect(await limiter.run(signal, async () => 'third')).toBe('third');
  });

  it('is not delayed when the clock of the machine is set back', async () => {
    const limiter = createLimiter();
    limiter.slowDown(50);
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000);
    try {
      expect(await limiter.run(AbortSignal.timeout(5_000), async () => 'goes on')).toBe('goes on');
    } finally {
      vi.restoreAllMocks();
    }
  });

  it('lets a request proceed after two minutes, although others are told to wait again and again', async () => {
    vi.useFakeTimers();
    try {
      const waits = { newWait: () => 60_000, record: () => undefined };
      const limiter = createLimiter({ waits });
      let asked = 0;
      const request = limiter.run(signal, async () => {
        asked = performance.now();
      });
      const begun = performance.now();
      await vi.advanceTimersByTimeAsync(200_000);
      await request;
      expect(asked - begun).toBe(120_000);
    } finally {
      vi.useRealTimers();
    }
  });

  it('is shared by requests of the same account to the same host only', () => {
    const of = createLimiters();
    expect(of('a', 'jo')).toBe(of('a', 'jo'));
    expect(of('a', 'jo')).not.toBe(of('b', 'jo'));
    expect(of('a', 'jo')).not.toBe(of('a', 'mo'));
    expect(of('a', 'jo')).not.toBe(of('a', ''));
  });

  it('does not delay one account because of another', async () => {
    const of = createLimiters();
    of('a', 'jo').slowDown(60_000);
    expect(await of('a', 'mo').run(AbortSignal.timeout(10_000), async () => 'done')).toBe('done');
    const jo = of('a', 'jo').run(AbortSignal.timeout(50), async () => 'done');
    await expect(jo).rejects.toThrow();
  });
});
