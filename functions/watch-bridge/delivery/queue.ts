import { backoffMs, type Clock, DelayQueue } from '#shared/async';

/**
 * What became of one delivery: `delivered`; `transient`: worth another try; `refused`: the broker will never take it.
 * `reason` is for logs.
 */
export type Outcome =
  | { result: 'delivered' }
  | { result: 'transient'; reason: string; retryAfterMs?: number }
  | { result: 'refused'; reason: string };

export interface QueueOptions<W> {
  /** Never rejects: a failure to send is a transient outcome. */
  send(wake: W): Promise<Outcome>;
  /** Told once per delivery that ended for good, with the ms since the wake became due. */
  settled?(wake: W, outcome: Outcome, lagMs: number): void;
  retrying?(wake: W, reason: string, attempt: number): void;
  clock: Clock;
  random(): number;
  /** How many deliveries may be under way at once. */
  parallel: number;
}

interface Entry<W> {
  wake: W;
  since: number;
}

/**
 * Wakes waiting to be delivered: one per key, the latest wins, one delivery of a key under way at a time, many keys in
 * parallel. A slow or absent broker makes entries wait and collapse; nothing is lost and memory is bounded by the
 * keys, that is by the live objects. Transient answers are retried for as long as it takes.
 */
export class WakeQueue<W> {
  readonly #options: QueueOptions<W>;
  /** Due now, in order of arrival. */
  readonly #ready = new Map<string, Entry<W>>();
  /** Due later: delayed on purpose, or backing off. */
  readonly #later: DelayQueue<Entry<W>>;
  readonly #inFlight = new Set<string>();
  /** Failed tries in a row, for keys that have any. */
  readonly #attempts = new Map<string, number>();
  #closed = false;
  #idle: (() => void)[] = [];

  constructor(options: QueueOptions<W>) {
    this.#options = options;
    this.#later = new DelayQueue(options.clock, (key, entry) => this.#readyNow(key, entry));
  }

  /** Entries not delivered yet, those under way included. */
  get depth(): number {
    return this.#ready.size + this.#later.size + this.#inFlight.size;
  }

  /**
   * Takes a wake, to be sent at `at` (ms since the epoch, default at once). An entry that waits for the same key is replaced;
   * it keeps the earlier of both times, but never jumps a backoff.
   */
  offer(key: string, wake: W, at: number = this.#options.clock.now()): void {
    if (this.#closed) return;
    const now = this.#options.clock.now();
    const ready = this.#ready.get(key);
    if (ready !== undefined) {
      ready.wake = wake;
      return;
    }
    const waiting = this.#later.at(key);
    const backingOff = this.#attempts.has(key) && waiting !== undefined;
    const when = backingOff ? waiting : Math.min(at, waiting ?? at);
    if (when > now) {
      this.#later.set(key, when, { wake, since: when });
      return;
    }
    this.#later.delete(key);
    this.#readyNow(key, { wake, since: now });
  }

  /** Forgets what waits for `key`: the object is gone and nothing is left to wake. */
  forget(key: string): void {
    this.#ready.delete(key);
    this.#later.delete(key);
    this.#attempts.delete(key);
  }

  /** Takes nothing more and resolves when what is under way has ended. Nothing depends on this being called. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#later.close();
    this.#ready.clear();
    if (this.#inFlight.size === 0) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #readyNow(key: string, entry: Entry<W>): void {
    this.#ready.set(key, entry);
    this.#pump();
  }

  #pump(): void {
    if (this.#closed) return;
    // At most `parallel` keys can be skipped here for being under way.
    for (const [key, entry] of this.#ready) {
      if (this.#inFlight.size >= this.#options.parallel) return;
      if (this.#inFlight.has(key)) continue;
      this.#ready.delete(key);
      this.#inFlight.add(key);
      void this.#deliver(key, entry);
    }
  }

  async #deliver(key: string, entry: Entry<W>): Promise<void> {
    const outcome = await this.#options.send(entry.wake);
    this.#inFlight.delete(key);
    if (outcome.result === 'transient') this.#retry(key, entry, outcome);
    else {
      this.#attempts.delete(key);
      this.#options.settled?.(entry.wake, outcome, this.#options.clock.now() - entry.since);
    }
    if (this.#closed && this.#inFlight.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
    this.#pump();
  }

  #retry(key: string, entry: Entry<W>, outcome: { reason: string; retryAfterMs?: number }): void {
    if (this.#closed) return;
    const attempt = (this.#attempts.get(key) ?? 0) + 1;
    this.#attempts.set(key, attempt);
    // What arrived meanwhile for the key replaces what failed.
    const newer = this.#ready.get(key) ?? this.#later.get(key);
    this.#ready.delete(key);
    const wait = Math.max(outcome.retryAfterMs ?? 0, backoffMs(attempt, { random: this.#options.random }));
    const at = this.#options.clock.now() + wait;
    this.#later.set(key, at, { wake: newer?.wake ?? entry.wake, since: entry.since });
    this.#options.retrying?.(entry.wake, outcome.reason, attempt);
  }
}
