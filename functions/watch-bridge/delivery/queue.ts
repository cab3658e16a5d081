import { backoffMs, type Clock, DelayQueue } from '#shared/async';
import { Ready } from './ready.ts';

/**
 * The outcome of one delivery attempt: `delivered`; `transient`: another attempt may succeed; `refused`: no attempt will. `reason` is for
 * logs.
 */
export type Outcome =
  | { result: 'delivered' }
  | { result: 'transient'; reason: string; retryAfterMs?: number }
  | { result: 'refused'; reason: string };

export interface QueueOptions<W> {
  /** Makes one attempt. Never rejects: a failure to send is a transient outcome. */
  attempt(wake: W): Promise<Outcome>;
  /** Called once for each wake that was delivered or refused, with the ms since it became due. */
  ended?(wake: W, outcome: Outcome, lagMs: number): void;
  /** Called after each transient outcome; `failures` counts them in a row. */
  retrying?(wake: W, reason: string, failures: number): void;
  /** True for one that repeats itself and lets others overtake it; the same for all wakes of a key. Default: none. */
  isRepetition?(wake: W): boolean;
  clock: Clock;
  random(): number;
  /** Most attempts under way at once. */
  parallel: number;
}

interface Pending<W> {
  wake: W;
  /** When it became due, ms since the epoch. */
  dueAt: number;
}

/**
 * Pending wakes: one per key, the latest wins; one attempt per key under way, many keys in parallel. While the broker is slow or absent,
 * wakes wait and coalesce: none is lost, and memory is bounded by the keys, that is by the live objects. Transient outcomes are
 * retried without end.
 */
export class WakeQueue<W> {
  readonly #options: QueueOptions<W>;
  /** Due now. */
  readonly #ready: Ready<Pending<W>>;
  /** Due later: delayed on purpose, or backing off. */
  readonly #later: DelayQueue<Pending<W>>;
  readonly #inFlight = new Set<string>();
  /** Transient outcomes in a row, for keys that have any. */
  readonly #failures = new Map<string, number>();
  #closed = false;
  #idle: (() => void)[] = [];

  constructor(options: QueueOptions<W>) {
    this.#options = options;
    this.#ready = new Ready(({ wake }) => options.isRepetition?.(wake) ?? false);
    this.#later = new DelayQueue(options.clock, (key, pending) => this.#makeReady(key, pending));
  }

  /** Pending wakes, those under way included. */
  get depth(): number {
    return this.#ready.size + this.#later.size + this.#inFlight.size;
  }

  /** True while a wake of `key` is due and not delivered; one that was delayed on purpose is not due. */
  isDue(key: string): boolean {
    return this.#ready.get(key) !== undefined || this.#inFlight.has(key) || this.#failures.has(key);
  }

  /**
   * Takes a wake, to be delivered at `at` (ms since the epoch, default at once). It replaces the pending wake of its key and keeps the
   * earlier of both times, but does not shorten a backoff.
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
    const backingOff = this.#failures.has(key) && waiting !== undefined;
    const when = backingOff ? waiting : Math.min(at, waiting ?? at);
    if (when > now) {
      this.#later.set(key, when, { wake, dueAt: when });
      return;
    }
    this.#later.delete(key);
    this.#makeReady(key, { wake, dueAt: now });
  }

  /** Drops the pending wake of `key`: its object is gone. */
  forget(key: string): void {
    this.#ready.delete(key);
    this.#later.delete(key);
    this.#failures.delete(key);
  }

  /** Accepts no more wakes and resolves when the attempts under way have ended. No guarantee depends on this call. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#later.close();
    this.#ready.clear();
    if (this.#inFlight.size === 0) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #makeReady(key: string, pending: Pending<W>): void {
    this.#ready.set(key, pending);
    this.#pump();
  }

  #pump(): void {
    if (this.#closed) return;
    while (this.#inFlight.size < this.#options.parallel) {
      // At most `parallel` keys are skipped here.
      const next = this.#ready.take((one) => !this.#inFlight.has(one));
      if (next === undefined) return;
      const [key, pending] = next;
      this.#inFlight.add(key);
      void this.#deliver(key, pending);
    }
  }

  async #deliver(key: string, pending: Pending<W>): Promise<void> {
    const outcome = await this.#options.attempt(pending.wake);
    this.#inFlight.delete(key);
    if (outcome.result === 'transient') this.#retry(key, pending, outcome);
    else {
      this.#failures.delete(key);
      this.#options.ended?.(pending.wake, outcome, this.#options.clock.now() - pending.dueAt);
    }
    if (this.#closed && this.#inFlight.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
    this.#pump();
  }

  #retry(key: string, pending: Pending<W>, outcome: { reason: string; retryAfterMs?: number }): void {
    if (this.#closed) return;
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    // A wake that arrived during the attempt replaces the one that failed.
    const newer = this.#ready.get(key) ?? this.#later.get(key);
    this.#ready.delete(key);
    const wait = Math.max(outcome.retryAfterMs ?? 0, this.#backoff(failures));
    const at = this.#options.clock.now() + wait;
    this.#later.set(key, at, { wake: newer?.wake ?? pending.wake, dueAt: pending.dueAt });
    this.#options.retrying?.(pending.wake, outcome.reason, failures);
  }

  /** ms: short waits for few wakes, so that a broker that is back is noticed; with many, there are about 20 attempts a second. */
  #backoff(failures: number): number {
    const maxMs = Math.min(30_000, Math.max(5_000, this.#failures.size * 50));
    return backoffMs(failures, { maxMs, random: this.#options.random });
  }
}
