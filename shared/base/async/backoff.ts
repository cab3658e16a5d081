/** Options of an exponential backoff. */
export interface BackoffOptions {
  /** Delay after the first failure, before jitter, in milliseconds. Default 200. */
  baseMs?: number | undefined;
  /** Maximum delay. Default 30 s. */
  maxMs?: number | undefined;
  /** Uniform in [0, 1). Default Math.random. */
  random?: (() => number) | undefined;
}

/** The backoff of one operation. */
export interface Backoff {
  /** Returns the next delay in milliseconds: longer with each call, and at least `atLeastMs` within the maximum. */
  next(atLeastMs?: number): number;
  /** Call after a success: the next delay is the first one again. */
  reset(): void;
}

/** `baseMs` doubled `times` times, at most `maxMs`. */
export function doubled(baseMs: number, times: number, maxMs: number): number {
  return Math.min(maxMs, baseMs * 2 ** Math.min(Math.max(0, times), 40));
}

/**
 * Returns the delay in milliseconds after `failures` consecutive failures (1 or more): exponential, bounded, with equal jitter, that is
 * between half and all of the doubled base, so that the clients of a recovering server do not return at the same moment.
 */
export function backoffMs(failures: number, options: BackoffOptions = {}): number {
  const { baseMs = 200, maxMs = 30_000, random = Math.random } = options;
  return doubled(baseMs, failures - 1, maxMs) * (0.5 + random() / 2);
}

/** Creates a Backoff that counts the failures itself. */
export function createBackoff(options: BackoffOptions = {}): Backoff {
  const { maxMs = 30_000 } = options;
  let failures = 0;
  return {
    next(atLeastMs = 0) {
      failures += 1;
      return Math.min(maxMs, Math.max(atLeastMs, backoffMs(failures, options)));
    },
    reset() {
      failures = 0;
    },
  };
}

/** Returns `ms` with a jitter of ±25 %, so that replicas and objects that began together do not stay in step. */
export function jittered(ms: number, random: () => number = Math.random): number {
  return ms * (0.75 + random() / 2);
}
