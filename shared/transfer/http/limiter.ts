import { createSemaphore } from '#shared/async';
import { stopped } from '../errors/transfer-error.ts';
import { pauseOrStop } from './retry.ts';

/** Bounds the requests to one host that are under way, and delays all of them when the host asks for it. */
export interface Limiter {
  /** Runs `operation` in a slot; rejects with the signal's TransferError if aborted while waiting. */
  run<T>(signal: AbortSignal, operation: () => Promise<T>): Promise<T>;
  /** Waits until requests to the host may start again, without taking a slot. */
  pass(signal: AbortSignal): Promise<void>;
  /** The host answered 429: halves the limit (once per burst) and lets no request start for `waitMs`. */
  slowDown(waitMs: number): void;
  readonly limit: number;
}

/** A limiter of at most `max` requests at a time; after each full round of successes its limit rises by one. */
export function createLimiter(max = 8, now: () => number = Date.now): Limiter {
  const slots = createSemaphore(max);
  let successes = 0;
  let closedUntil = 0;

  function ended(): void {
    successes += 1;
    if (successes < slots.limit || slots.limit >= max) return;
    slots.limit += 1;
    successes = 0;
  }

  async function pass(signal: AbortSignal): Promise<void> {
    for (let wait = closedUntil - now(); wait > 0; wait = closedUntil - now())
      await pauseOrStop(wait, signal);
  }

  return {
    get limit() {
      return slots.limit;
    },
    pass,
    async run(signal, operation) {
      const free = await slots.acquire(signal).catch(() => {
        throw stopped(signal);
      });
      try {
        await pass(signal);
        return await operation();
      } finally {
        ended();
        free();
      }
    },
    slowDown(waitMs) {
      const burst = closedUntil > now();
      if (!burst) slots.limit = Math.max(1, Math.floor(slots.limit / 2));
      successes = 0;
      closedUntil = Math.max(closedUntil, now() + waitMs);
    },
  };
}

/** Makes a function that returns the one limiter of a host. */
export function createLimiters(max?: number): (host: string) => Limiter {
  const byHost = new Map<string, Limiter>();
  return (host) => {
    const known = byHost.get(host);
    if (known) return known;
    const fresh = createLimiter(max);
    byHost.set(host, fresh);
    return fresh;
  };
}
