import { type Clock, DelayQueue, jittered } from '#shared/async';

export interface ResyncOptions<T> {
  clock: Clock;
  random(): number;
  /** ms between announcements of an object that is not settled, and of one that is. */
  unsettledMs: number;
  settledMs: number;
  isUnsettled(object: T): boolean;
  /** Announces the object; `epoch` tells this time from the last one. */
  announce(object: T, epoch: string): void;
}

/**
 * Announces every object again and again, each at its own jittered time: soon while it is not settled, rarely when it is.
 * Brokers may drop and this process may die, so this, not delivery, is what the conduit's liveness rests on.
 */
export class Resync<T> {
  readonly #options: ResyncOptions<T>;
  readonly #schedule: DelayQueue<T>;
  readonly #unsettled = new Set<string>();
  /** Announced by a resync and not changed or woken for another reason since. */
  readonly #unanswered = new Set<string>();
  readonly #started: number;

  constructor(options: ResyncOptions<T>) {
    this.#options = options;
    this.#started = options.clock.now();
    this.#schedule = new DelayQueue(options.clock, (uid, object) => this.#fire(uid, object));
  }

  get unsettled(): number {
    return this.#unsettled.size;
  }

  /**
   * Takes the newest state of an object. Returns true when it changed after a resync with no other wake in between: the
   * resync found work that an event had not brought.
   */
  note(uid: string, object: T): boolean {
    const foundWork = this.#unanswered.delete(uid);
    const unsettled = this.#options.isUnsettled(object);
    const known = this.#schedule.at(uid);
    const next = this.#nextTime(unsettled);
    if (unsettled) this.#unsettled.add(uid);
    else this.#unsettled.delete(uid);
    // The time stands, so that an object that changes all the time is announced too; it only ever comes closer.
    this.#schedule.set(uid, Math.min(known ?? next, next), object);
    return foundWork;
  }

  /** The object is being woken for a reason of its own: what it does next is not to the resync's credit. */
  woken(uid: string): void {
    this.#unanswered.delete(uid);
  }

  forget(uid: string): void {
    this.#schedule.delete(uid);
    this.#unsettled.delete(uid);
    this.#unanswered.delete(uid);
  }

  close(): void {
    this.#schedule.close();
  }

  #fire(uid: string, object: T): void {
    const { clock, announce } = this.#options;
    announce(object, `${this.#started}-${clock.now()}`);
    this.#unanswered.add(uid);
    this.#schedule.set(uid, this.#nextTime(this.#unsettled.has(uid)), object);
  }

  #nextTime(unsettled: boolean): number {
    const { clock, random, unsettledMs, settledMs } = this.#options;
    return clock.now() + jittered(unsettled ? unsettledMs : settledMs, random);
  }
}
