/** How long to wait between attempts. */
export interface BackoffOptions {
  /** The first wait before jitter, in milliseconds. Default 200. */
  baseMs?: number | undefined;
  /** No wait is longer. Default 30 s. */
  maxMs?: number | undefined;
  /** Uniform in [0, 1). Default Math.random. */
  random?: (() => number) | undefined;
}

/** The waits of one operation, counted. */
export interface Backoff {
  /** Milliseconds to wait now: longer with each call, at least `atLeastMs` where that is within the bound. */
  next(atLeastMs?: number): number;
  /** The operation worked: the next wait is a first one again. */
  reset(): void;
}

/** `baseMs` doubled `times` times, at most `maxMs`. */
export function doubled(baseMs: number, times: number, maxMs: number): number {
  return Math.min(maxMs, baseMs * 2 ** Math.min(Math.max(0, times), 40));
}

/**
 * The wait in milliseconds after `failures` failures in a row (1 or more): exponential, bounded, with equal jitter, which is
 * between half and all of the doubled base. Many clients of a server that comes back do not come back all at once.
 */
export function backoffMs(failures: number, options: BackoffOptions = {}): number {
  const { baseMs = 200, maxMs = 30_000, random = Math.random } = options;
  return doubled(baseMs, failures - 1, maxMs) * (0.5 + random() / 2);
}

/** A Backoff that counts the failures itself. */
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

/** `ms` spread evenly over ±25 %, for what repeats: replicas and objects that began together do not stay together. */
export function jittered(ms: number, random: () => number = Math.random): number {
  return ms * (0.75 + random() / 2);
}
