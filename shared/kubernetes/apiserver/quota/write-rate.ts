import { ArcError } from '#shared/base/errors';

const minute = 60_000;
/** More namespaces than this, and those that have written nothing for a minute are forgotten. */
const sweepFrom = 1_000;

/**
 * How many bytes each namespace writes: a store keeps what an update replaces until its history is compacted, so one object that is written
 * again and again fills it as well as many do. A namespace that has rested for a minute may write a minute's worth at once.
 */
export class WriteRate {
  /** By namespace, the milliseconds that pay for what it had written, and when that was so. */
  readonly #debts = new Map<string, Debt>();
  #sweepAt = sweepFrom;

  /** Counts a write. Throws TooManyRequests, with the seconds to wait, when the namespace has written too much. */
  take(namespace: string, bytes: number, { perMinute, now, source }: Rate): void {
    const cost = (bytes / perMinute) * minute;
    const owed = owedAt(now, this.#debts.get(namespace));
    if (owed + cost > minute) {
      const retryAfterSeconds = Math.ceil((owed + cost - minute) / 1000);
      const why = `namespace "${namespace}" may write ${perMinute} bytes in a minute (${source})`;
      throw new ArcError('TooManyRequests', `Too many requests, please try again later: ${why}.`, {
        details: { retryAfterSeconds },
      });
    }
    this.#debts.set(namespace, { owed: owed + cost, at: now });
    if (this.#debts.size > this.#sweepAt) this.#sweep(now);
  }

  /** How many namespaces are remembered. */
  get size(): number {
    return this.#debts.size;
  }

  #sweep(now: number): void {
    for (const [namespace, debt] of this.#debts) if (owedAt(now, debt) === 0) this.#debts.delete(namespace);
    this.#sweepAt = Math.max(sweepFrom, 2 * this.#debts.size);
  }
}

interface Debt {
  owed: number;
  at: number;
}

/** What is left of a debt. A clock that was set back pays for nothing, and adds nothing. */
function owedAt(now: number, { owed, at }: Debt = { owed: 0, at: now }): number {
  return Math.max(0, owed - Math.max(0, now - at));
}

export interface Rate {
  /** Bytes; at least those of the largest object. */
  perMinute: number;
  /** Unix ms. */
  now: number;
  /** Where the limit stands. */
  source: string;
}
