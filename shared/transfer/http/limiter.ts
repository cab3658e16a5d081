import { createSemaphore } from '#shared/base/async';
import { abortError } from '../errors/transfer-error.ts';
import { defaultRetry, pauseUntilAborted } from './retry.ts';
import type { SharedWaits } from './shared-waits.ts';

/** Bounds the requests in flight of one account to one host, and delays all of them when the host asks for it. */
export interface Limiter {
  /** Runs `operation` in a slot; rejects with the signal's TransferError if aborted while waiting. */
  run<T>(signal: AbortSignal, operation: () => Promise<T>): Promise<T>;
  /** Waits until the host accepts requests again, without taking a slot. */
  pass(signal: AbortSignal): Promise<void>;
  /** Records a 429 or 503: halves the limit (once per burst) and starts no request for `waitMs`. */
  slowDown(waitMs: number): void;
  readonly limit: number;
}

export interface LimiterOptions {
  /** Maximum requests in flight; default 8. */
  max?: number;
  now?: () => number;
  /** Waits that this host has asked other workers for, on behalf of the same account. */
  waits?: SharedWaits | undefined;
}

/**
 * The longest time in milliseconds that a request waits for its host. After that it is sent anyway: a transfer that obeyed one other worker
 * after the other would neither end nor report why.
 */
const maxWaitMs = defaultRetry.maxRetryAfterMs;

/** Creates a limiter of at most `max` requests; after each full round of responses its limit rises by one. `now` must be monotonic. */
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

  function remainingWait(): number {
    const shared = waits?.newWait() ?? 0;
    if (shared > 0) close(shared);
    return closedUntil - now();
  }

  async function pass(signal: AbortSignal): Promise<void> {
    const latest = now() + maxWaitMs;
    for (let wait = remainingWait(); wait > 0 && now() < latest; wait = remainingWait())
      await pauseUntilAborted(Math.min(wait, latest - now()), signal);
  }

  return {
    get limit() {
      return slots.limit;
    },
    pass,
    async run(signal, operation) {
      const free = await slots.acquire(signal).catch(() => {
        throw abortError(signal);
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
      waits?.record(waitMs);
    },
  };
}

/** Returns the limiter of an account (`accountOf`) at the server of an origin (`https://host[:port]`). */
export type LimiterOf = (origin: string, account: string) => Limiter;

/**
 * Returns a function with one limiter per account and server, which shares the waits of `waitsOf`. Servers limit each account separately:
 * the wait of one account must not delay another.
 */
export function createLimiters(waitsOf?: (place: string) => SharedWaits): LimiterOf {
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
