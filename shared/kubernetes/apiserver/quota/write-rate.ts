import { ArcError } from '#shared/base/errors';

const minute = 60_000;
/** Number of namespaces above which idle ones are evicted. */
const minSweepSize = 1_000;

/**
 * Limits the bytes that a namespace writes per minute: a store keeps replaced values until compaction, so frequent updates of one object fill
 * it like many objects do. A leaky bucket with the capacity of one minute.
 */
export class WriteRate {
  /** Fill level of the bucket per namespace. */
  readonly #debts = new Map<string, Debt>();
  #sweepAt = minSweepSize;

  /** Charges a write. Throws TooManyRequests with Retry-After if the namespace exceeds its rate. */
  take(namespace: string, bytes: number, { perMinute, now, source }: Rate): void {
    const cost = (bytes / perMinute) * minute;
    const owed = owedAt(now, this.#debts.get(namespace));
    if (owed + cost > minute) {
      const retryAfterSeconds = Math.ceil((owed + cost - minute) / 1000);
      const reason = `namespace "${namespace}" may write ${perMinute} bytes per minute (${source})`;
      throw new ArcError('TooManyRequests', `Too many requests, please try again later: ${reason}.`, {
        details: { retryAfterSeconds },
      });
    }
    this.#debts.set(namespace, { owed: owed + cost, at: now });
    if (this.#debts.size > this.#sweepAt) this.#sweep(now);
  }

  /** Number of tracked namespaces. */
  get size(): number {
    return this.#debts.size;
  }

  #sweep(now: number): void {
    for (const [namespace, debt] of this.#debts) if (owedAt(now, debt) === 0) this.#debts.delete(namespace);
    this.#sweepAt = Math.max(minSweepSize, 2 * this.#debts.size);
  }
}

interface Debt {
  /** Milliseconds until the bucket is empty. */
  owed: number;
  at: number;
}

/** Returns the remaining debt. A clock that was set back changes nothing. */
function owedAt(now: number, { owed, at }: Debt = { owed: 0, at: now }): number {
  return Math.max(0, owed - Math.max(0, now - at));
}

export interface Rate {
  /** Bytes per minute, at least the size limit of an object. */
  perMinute: number;
  /** Unix time in milliseconds. */
  now: number;
  /** Where the limit is configured. */
  source: string;
}
