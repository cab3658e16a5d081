import { createSemaphore } from '#shared/base/async';
import { stopped } from '../errors/transfer-error.ts';
import { defaultRetry, pauseOrStop } from './retry.ts';
import type { Waits } from './waits.ts';

/** Bounds the requests of one account to one host that are under way, and delays all of them when the host asks for it. */
export interface Limiter {
  /** Runs `operation` in a slot; rejects with the signal's TransferError if aborted while waiting. */
  run<T>(signal: AbortSignal, operation: () => Promise<T>): Promise<T>;
  /** Waits until requests to the host may start again, without taking a slot. */
  pass(signal: AbortSignal): Promise<void>;
  /** The host answered 429 or 503: halves the limit (once per burst) and lets no request start for `waitMs`. */
  slowDown(waitMs: number): void;
  readonly limit: number;
}

export interface LimiterOptions {
  /** Requests at a time; default 8. */
  max?: number;
  now?: () => number;
  /** What this host has asked of other workers, for the same account. */
  waits?: Waits | undefined;
}

/**
 * Requests wait so long at a time for what their host has asked for, in ms. Then they ask for themselves: a transfer that waits for what one
 * worker after the other was told would neither end nor say why.
 */
const longestWaitMs = defaultRetry.maxRetryAfterMs;

/** A limiter of at most `max` requests at a time; after each full round of successes its limit rises by one. `now` never goes back. */
export function createLimiter({
  max = 8,
  now = () => performance.now(),
  waits,
}: LimiterOptions = {}): Limiter {
  const slots = createSemaphore(max);
  let successes = 0;
  let closedUntil = Number.NEGATIVE_INFINITY;

  function ended(): void {
    successes += 1;
    if (successes < slots.limit || slots.limit >= max) return;
    slots.limit += 1;
    successes = 0;
  }

  function close(waitMs: number): void {
    const burst = closedUntil > now();
    if (!burst) slots.limit = Math.max(1, Math.floor(slots.limit / 2));
    successes = 0;
    closedUntil = Math.max(closedUntil, now() + waitMs);
  }

  function untilOpen(): number {
    const told = waits?.news() ?? 0;
    if (told > 0) close(told);
    return closedUntil - now();
  }

  async function pass(signal: AbortSignal): Promise<void> {
    const latest = now() + longestWaitMs;
    for (let wait = untilOpen(); wait > 0 && now() < latest; wait = untilOpen())
      await pauseOrStop(Math.min(wait, latest - now()), signal);
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
      close(waitMs);
      waits?.tell(waitMs);
    },
  };
}

/** The limiter of an account (`accountOf`) at the server of an origin, `https://host[:port]`. */
export type LimiterOf = (origin: string, account: string) => Limiter;

/**
 * Makes a function that returns the one limiter of an account at a server, which obeys what `waitsOf` knows of it. A server limits accounts by
 * themselves: what it asks of one is no reason to keep another waiting.
 */
export function createLimiters(waitsOf?: (place: string) => Waits): LimiterOf {
  const known = new Map<string, Limiter>();
  return (origin, account) => {
    const place = JSON.stringify([origin, account]);
    const existing = known.get(place);
    if (existing) return existing;
    const fresh = createLimiter({ waits: waitsOf?.(place) });
    known.set(place, fresh);
    return fresh;
  };
}
