import { type Clock, DelayQueue, jittered } from '#shared/async';

export interface ResyncOptions<T> {
  clock: Clock;
  random(): number;
  /** ms between resyncs of an object that is not settled. */
  unsettledMs: number;
  /** ms between resyncs of a settled object. */
  settledMs: number;
  isUnsettled(object: T): boolean;
  /** Wakes the object; `epoch` differs for each resync. */
  wake(object: T, epoch: string): void;
}

/**
 * Wakes every object at intervals, each at its own jittered time: often while it is not settled, rarely when it is. Brokers may drop
 * events and this process may be killed, so the liveness of the conduit rests on the resync and not on delivery.
 */
export class Resync<T> {
  readonly #options: ResyncOptions<T>;
  readonly #schedule: DelayQueue<T>;
  readonly #unsettled = new Set<string>();
  /** Objects that a resync has woken and that have neither changed nor been woken for another reason since. */
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
   * Takes the newest state of an object. Returns true when it changed after a resync without another wake in between: an event was
   * lost, and the resync found the work.
   */
  update(uid: string, object: T): boolean {
    const foundWork = this.#unanswered.delete(uid);
    const unsettled = this.#options.isUnsettled(object);
    const known = this.#schedule.at(uid);
    const next = this.#nextTime(unsettled);
    if (unsettled) this.#unsettled.add(uid);
    else this.#unsettled.delete(uid);
    // The time is never postponed, so that an object that changes all the time is woken too.
    this.#schedule.set(uid, Math.min(known ?? next, next), object);
    return foundWork;
  }

  /** The object is woken for another reason, so its next change does not count as found by a resync. */
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
    const { clock, wake } = this.#options;
    wake(object, `${this.#started}-${clock.now()}`);
    this.#unanswered.add(uid);
    this.#schedule.set(uid, this.#nextTime(this.#unsettled.has(uid)), object);
  }

  #nextTime(unsettled: boolean): number {
    const { clock, random, unsettledMs, settledMs } = this.#options;
    return clock.now() + jittered(unsettled ? unsettledMs : settledMs, random);
  }
}
