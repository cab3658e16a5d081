import { stopped } from '../transfer-error.ts';
import { pause } from './retry.ts';

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
  let limit = most;
  let active = 0;
  let successes = 0;
  let closedUntil = 0;
  const waiting: (() => void)[] = [];

  function admit(): void {
    while (active < limit) {
      const next = waiting.shift();
      if (!next) return;
      active += 1;
      next();
    }
  }

  async function enter(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = (): void => {
      const index = waiting.indexOf(resolve);
      if (index === -1) return;
      waiting.splice(index, 1);
      reject(stopped(signal));
    };
    if (signal.aborted) throw stopped(signal);
    signal.addEventListener('abort', onAbort, { once: true });
    waiting.push(resolve);
    admit();
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  function leave(): void {
    active -= 1;
    successes += 1;
    if (successes >= limit && limit < most) {
      limit += 1;
      successes = 0;
    }
    admit();
  }

  async function pass(signal: AbortSignal): Promise<void> {
    for (let wait = closedUntil - now(); wait > 0; wait = closedUntil - now()) await pause(wait, signal);
  }

  return {
    get limit() {
      return limit;
    },
    pass,
    async run(signal, operation) {
      await enter(signal);
      try {
        await pass(signal);
        return await operation();
      } finally {
        leave();
      }
    },
    slowDown(waitMs) {
      const burst = closedUntil > now();
      if (!burst) limit = Math.max(1, Math.floor(limit / 2));
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
