/** How long to wait between attempts. */
export interface BackoffOptions {
  /** The first wait, in milliseconds. Default 200. */
  baseMs?: number | undefined;
  /** No wait is longer. Default 30 s. */
  maxMs?: number | undefined;
  /** Uniform in [0, 1). */
  random: () => number;
}

export interface Backoff {
  /** Milliseconds to wait now: doubled each time, between half and all of it by chance, `atLeastMs` respected up to the bound. */
  next(atLeastMs?: number): number;
  /** It worked: the next wait is a first one again. */
  reset(): void;
}

/** Exponential, jittered, bounded: many clients of a server that comes back must not come back all at once. */
export function createBackoff({ baseMs = 200, maxMs = 30_000, random }: BackoffOptions): Backoff {
  let attempt = 0;
  return {
    next(atLeastMs = 0) {
      const full = Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 30));
      attempt += 1;
      return Math.min(maxMs, Math.max(atLeastMs, full * (0.5 + random() / 2)));
    },
    reset() {
      attempt = 0;
    },
  };
}
