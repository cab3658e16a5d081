import { ArcError } from '#shared/errors';

const minute = 60_000;
/** More namespaces than this, and those that have written nothing for a minute are forgotten. */
const sweepFrom = 1_000;

/**
 * How many bytes each namespace writes: a store keeps what an update replaces until its history is compacted, so one object that is written
 * again and again fills it as well as many do. A namespace that has rested for a minute may write a minute's worth at once.
 */
export class WriteRate {
  /** By namespace, when what it has written is paid off. One that is in the past counts as absent. */
  readonly #paidAt = new Map<string, number>();
  #sweepAt = sweepFrom;

  /** Counts a write. Throws TooManyRequests, with the seconds to wait, when the namespace has written too much. */
  take(namespace: string, bytes: number, { perMinute, now, source }: Rate): void {
    const cost = (bytes / perMinute) * minute;
    // More than a minute is owed only by a clock that was set back.
    const owed = Math.min(minute, Math.max(0, (this.#paidAt.get(namespace) ?? 0) - now));
    if (owed + cost > minute) {
      const retryAfterSeconds = Math.ceil((owed + cost - minute) / 1000);
      const why = `namespace "${namespace}" may write ${perMinute} bytes in a minute (${source})`;
      throw new ArcError('TooManyRequests', `Too many requests, please try again later: ${why}.`, {
        details: { retryAfterSeconds },
      });
    }
    this.#paidAt.set(namespace, now + owed + cost);
    if (this.#paidAt.size > this.#sweepAt) this.#sweep(now);
  }

  /** How many namespaces are remembered. */
  get size(): number {
    return this.#paidAt.size;
  }

  #sweep(now: number): void {
    for (const [namespace, paidAt] of this.#paidAt) if (paidAt <= now) this.#paidAt.delete(namespace);
    this.#sweepAt = Math.max(sweepFrom, 2 * this.#paidAt.size);
  }
}

export interface Rate {
  /** Bytes; at least those of the largest object. */
  perMinute: number;
  /** Unix ms. */
  now: number;
  /** Where the limit stands. */
  source: string;
}
