import { backoffMs, type Clock, DelayQueue, type Owner, SharedCapacity } from '#shared/base/async';
import { Ready } from './ready.ts';

/**
 * The outcome of one delivery attempt: `delivered`; `transient`: another attempt may succeed; `refused`: no attempt will. `reason` is for
 * logs.
 */
export type Outcome =
  | { result: 'delivered' }
  | { result: 'transient'; reason: string; retryAfterMs?: number }
  | { result: 'refused'; reason: string };

export interface QueueOptions<E> {
  /** Makes one attempt. Never rejects: a failure to send is a transient outcome. */
  attempt(event: E): Promise<Outcome>;
  /**
   * Called once for each event that was delivered or refused, with the ms from when it became due until its last attempt began, and those of that
   * attempt.
   */
  ended?(event: E, outcome: Outcome, lagMs: number, attemptMs: number): void;
  /** Called after each transient outcome; `failures` counts them in a row. */
  retrying?(event: E, reason: string, failures: number): void;
  /** False for an event that others may overtake. Default: all are urgent. */
  isUrgent?(event: E): boolean;
  /** The owner of an event: owners take turns. */
  ownerOf(event: E): Owner;
  /** Called once per event, before the first attempt. */
  started?(event: E): void;
  clock: Clock;
  random(): number;
  /** Attempts in flight, of which one namespace alone gets half. */
  parallel: number;
}

interface Pending<E> {
  event: E;
  /** When the event became due, ms since the epoch. */
  dueAt: number;
}

/** How long a function's writes take to be observed, ms. */
const settleMs = 50;

/**
 * Pending events: one per key, the latest wins; one attempt per key in flight, many keys in parallel; owners take turns, and a namespace has
 * at most as many attempts in flight as are free, so that slow attempts of some do not block others. While the broker is slow or absent,
 * events wait and coalesce: none is lost, and memory is bounded by the keys, that is by the live objects. Transient outcomes are retried
 * without limit.
 */
export class EventQueue<E> {
  readonly #options: QueueOptions<E>;
  /** Due now. */
  readonly #ready: Ready<Pending<E>>;
  /** Due later: delayed on purpose, or in backoff. */
  readonly #later: DelayQueue<Pending<E>>;
  /** The keys of the events in flight. */
  readonly #inFlight = new Set<string>();
  readonly #slots: SharedCapacity;
  /** Due, while an event of the same key is in flight. */
  readonly #behind = new Map<string, Pending<E>>();
  /** Consecutive transient outcomes, by key. */
  readonly #failures = new Map<string, number>();
  #closed = false;
  #idle: (() => void)[] = [];

  constructor(options: QueueOptions<E>) {
    this.#options = options;
    this.#slots = new SharedCapacity(options.parallel);
    this.#ready = new Ready({
      isUrgent: ({ event }) => options.isUrgent?.(event) ?? true,
      ownerOf: ({ event }) => options.ownerOf(event),
    });
    this.#later = new DelayQueue(options.clock, (key, pending) => this.#makeReady(key, pending));
  }

  /** Pending events, including those in flight. */
  get depth(): number {
    return this.#ready.size + this.#later.size + this.#inFlight.size + this.#behind.size;
  }

  /**
   * Enqueues an event for delivery at `at` (ms since the epoch, default now). It replaces the pending event of its key and keeps the
   * earlier of both times, but does not shorten a backoff.
   */
  offer(key: string, event: E, at: number = this.#options.clock.now()): void {
    if (this.#closed) return;
    const now = this.#options.clock.now();
    const due = this.#ready.get(key) ?? this.#behind.get(key);
    if (due !== undefined) {
      due.event = event;
      this.#ready.update(key);
      return;
    }
    const waiting = this.#later.at(key);
    const backingOff = this.#failures.has(key) && waiting !== undefined;
    const when = backingOff ? waiting : Math.min(at, waiting ?? at);
    if (when > now) {
      this.#later.set(key, when, { event, dueAt: when });
      return;
    }
    this.#later.delete(key);
    this.#makeReady(key, { event, dueAt: now });
  }

  /** Drops the pending event of `key`: its object is gone. */
  forget(key: string): void {
    this.#ready.delete(key);
    this.#behind.delete(key);
    this.#later.delete(key);
    this.#failures.delete(key);
  }

  /** Accepts no more events; resolves when the attempts in flight have ended. No guarantee depends on this call. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#later.close();
    this.#ready.clear();
    this.#behind.clear();
    if (this.#inFlight.size === 0) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #makeReady(key: string, pending: Pending<E>): void {
    if (this.#inFlight.has(key)) this.#behind.set(key, pending);
    else this.#ready.set(key, pending);
    this.#pump();
  }

  #pump(): void {
    if (this.#closed) return;
    for (;;) {
      if (this.#slots.used >= this.#slots.capacity) return;
      const next = this.#ready.take((namespace) => this.#slots.hasRoom(namespace));
      if (next === undefined) return;
      void this.#deliver(...next);
    }
  }

  async #deliver(key: string, pending: Pending<E>): Promise<void> {
    this.#inFlight.add(key);
    const leave = this.#slots.enter(this.#options.ownerOf(pending.event).namespace);
    if (!this.#failures.has(key)) this.#options.started?.(pending.event);
    const began = this.#options.clock.now();
    const outcome = await this.#options.attempt(pending.event);
    this.#inFlight.delete(key);
    leave();
    if (outcome.result === 'transient') this.#retry(key, pending, outcome);
    else {
      this.#failures.delete(key);
      this.#defer(key);
      const attemptMs = this.#options.clock.now() - began;
      this.#options.ended?.(pending.event, outcome, began - pending.dueAt, attemptMs);
    }
    if (this.#closed && this.#inFlight.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
    this.#pump();
  }

  /** Delays an event that was decided on during an attempt of its key until the results of that attempt are observed: it may be obsolete by then. */
  #defer(key: string): void {
    const next = this.#behind.get(key);
    if (next === undefined) return;
    this.#behind.delete(key);
    this.#later.set(key, this.#options.clock.now() + settleMs, next);
  }

  #retry(key: string, pending: Pending<E>, outcome: { reason: string; retryAfterMs?: number }): void {
    if (this.#closed) return;
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    // An event that arrived during the attempt replaces the failed one.
    const newer = this.#behind.get(key) ?? this.#later.get(key);
    this.#behind.delete(key);
    const wait = Math.max(outcome.retryAfterMs ?? 0, this.#backoff(failures));
    const at = this.#options.clock.now() + wait;
    this.#later.set(key, at, { event: newer?.event ?? pending.event, dueAt: pending.dueAt });
    this.#options.retrying?.(pending.event, outcome.reason, failures);
  }

  /** Backoff in ms: short for few events, so that a recovered broker is noticed; with many events about 20 attempts a second in total. */
  #backoff(failures: number): number {
    const maxMs = Math.min(30_000, Math.max(5_000, this.#failures.size * 50));
    return backoffMs(failures, { maxMs, random: this.#options.random });
  }
}
