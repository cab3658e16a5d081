import { createSemaphore } from '#shared/async';
import { stopped } from '../errors/transfer-error.ts';
import { pauseOrStop } from './retry.ts';

/** Bounds how many requests to one host are under way, and holds all of them back when the host asks for that. */
export interface Limiter {
  /** Runs `operation` in a slot; rejects with the signal's TransferError if aborted while waiting. */
  run<T>(signal: AbortSignal, operation: () => Promise<T>): Promise<T>;
  /** Waits until the host may be asked again, without taking a slot. */
  pass(signal: AbortSignal): Promise<void>;
  /** The host said 429 to a request: halves the limit (once per burst) and lets none start for `waitMs`. */
  slowDown(waitMs: number): void;
  readonly limit: number;
}

/** A limiter of at most `most` requests at a time; it recovers by one for each full round of successes. */
export function createLimiter(most = 8, now: () => number = Date.now): Limiter {
  const slots = createSemaphore(most);
  let successes = 0;
  let closedUntil = 0;

  function ended(): void {
    successes += 1;
    if (successes < slots.limit || slots.limit >= most) return;
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

/** One limiter per host for all who ask through the returned function. */
export function createLimiters(most?: number): (host: string) => Limiter {
  const byHost = new Map<string, Limiter>();
  return (host) => {
    const known = byHost.get(host);
    if (known) return known;
    const fresh = createLimiter(most);
    byHost.set(host, fresh);
    return fresh;
  };
}
