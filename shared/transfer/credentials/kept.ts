import { startDeadline, untilAborted } from '#shared/base/async';

/** Something that a cloud lends until a time, in milliseconds since 1970. */
export interface Lent<T> {
  value: T;
  expires: number;
}

/** Gives what is lent, as long as there is some time left of it. */
export type Lend<T> = (signal: AbortSignal) => Promise<T>;

/** A request that begins with it has to end before it expires. */
const marginMs = 5 * 60_000;
/** A cloud that lends for less than the margin is not asked for each request. */
const leastMs = 60_000;

/** For one fetch, which may be two requests: each has a deadline of its own, of a minute. */
const fetchMs = 2 * 60_000;

/**
 * Fetches when it is first asked, and again five minutes before what it has expires. Those who ask meanwhile share one fetch, which has a deadline
 * of its own: whoever stops waiting stops nobody else. A failure is not kept.
 */
export function kept<T>(
  fetch: (signal: AbortSignal) => Promise<Lent<T>>,
  now: () => number = Date.now,
): Lend<T> {
  let known: { value: Promise<T>; renewal: number } | undefined;
  function renewed(): { value: Promise<T>; renewal: number } {
    const deadline = startDeadline(fetchMs, 'credentials of a cloud');
    const lent = fetch(deadline.signal).finally(deadline.end);
    const entry = { value: lent.then(({ value }) => value), renewal: Number.POSITIVE_INFINITY };
    lent.then(
      ({ expires }) => {
        entry.renewal = Math.max(expires - marginMs, now() + leastMs);
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
