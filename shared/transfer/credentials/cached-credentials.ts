import { startDeadline, untilAborted } from '#shared/base/async';

/** A value that expires at a time in milliseconds since the epoch. */
export interface Expiring<T> {
  value: T;
  expires: number;
}

/** Returns credentials that are still valid for a while. */
export type CredentialSource<T> = (signal: AbortSignal) => Promise<T>;

/** A request that starts with the credentials must end before they expire. */
const marginMs = 5 * 60_000;
/** Minimum interval between fetches, for credentials with a lifetime below the margin. */
const minIntervalMs = 60_000;

/** Deadline of one fetch, which may take two requests with a deadline of one minute each. */
const fetchMs = 2 * 60_000;

/**
 * Caches credentials: they are fetched on first use, and again five minutes before they expire. Concurrent callers share one fetch with its own
 * deadline, so a caller that gives up does not cancel it for others. Failures are not cached.
 */
export function cachedCredentials<T>(
  fetch: (signal: AbortSignal) => Promise<Expiring<T>>,
  now: () => number = Date.now,
): CredentialSource<T> {
  let known: { value: Promise<T>; renewal: number } | undefined;
  function renewed(): { value: Promise<T>; renewal: number } {
    const deadline = startDeadline(fetchMs, 'credentials of a cloud');
    const fetched = fetch(deadline.signal).finally(deadline.end);
    const entry = { value: fetched.then(({ value }) => value), renewal: Number.POSITIVE_INFINITY };
    fetched.then(
      ({ expires }) => {
        entry.renewal = Math.max(expires - marginMs, now() + minIntervalMs);
      },
      () => {
        if (known === entry) known = undefined;
      },
    );
    return entry;
  }
  return (signal) => {
    if (known === undefined || now() >= known.renewal) known = renewed();
    return untilAborted(known.value, signal);
  };
}
