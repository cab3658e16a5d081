import { type Clock, DelayQueue, jittered } from '#shared/async';
import { Sweep } from './sweep.ts';

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
 * Wakes every object at intervals: often while it is not settled, each at its own jittered time; rarely when it is, all in one bunch.
 * Brokers may drop events and this process may be killed, so the liveness of the conduit rests on the resync and not on delivery.
 */
export class Resync<T> {
  readonly #options: ResyncOptions<T>;
  /** Objects that are not settled, or may not be, by the time of their next resync. */
  readonly #schedule: DelayQueue<T>;
  readonly #settled: Sweep<T>;
  /** Objects that a resync has woken and that have neither changed nor been woken for another reason since. */
  readonly #unanswered = new Set<string>();
  readonly #started: number;

  constructor(options: ResyncOptions<T>) {
    const { clock, random, settledMs } = options;
    this.#options = options;
    this.#started = clock.now();
    this.#schedule = new DelayQueue(clock, (uid, object) => this.#fire(uid, object));
    this.#settled = new Sweep({
      clock,
      random,
      everyMs: settledMs,
      wake: (uid, object) => this.#wake(uid, object),
    });
  }

  get unsettled(): number {
    return this.#schedule.size;
  }

  /**
   * Takes the newest state of an object. Returns true when it changed after a resync without another wake in between: an event was
   * lost, and the resync found the work.
   */
  update(uid: string, object: T): boolean {
    const foundWork = this.#unanswered.delete(uid);
    if (this.#options.isUnsettled(object)) this.#expect(uid, object);
    else this.#settle(uid, object);
    return foundWork;
  }

  /** Something that the object refers to has changed: it is looked at again with the next resync of what is unsettled. */
  doubt(uid: string): void {
    const object = this.#settled.get(uid);
    if (object !== undefined) this.#expect(uid, object);
  }

  /** All settled objects are woken within about one interval of unsettled ones, for what changed while nobody watched. */
  sweepSoon(): void {
    this.#settled.soon(this.#options.unsettledMs);
  }

  /** The object is woken for another reason, so its next change does not count as found by a resync. */
  woken(uid: string): void {
    this.#unanswered.delete(uid);
  }

  forget(uid: string): void {
    this.#schedule.delete(uid);
    this.#settled.delete(uid);
    this.#unanswered.delete(uid);
  }

  close(): void {
    this.#schedule.close();
    this.#settled.close();
  }

  #fire(uid: string, object: T): void {
    if (!this.#options.isUnsettled(object)) {
      this.#settle(uid, object);
      return;
    }
    this.#wake(uid, object);
    this.#expect(uid, object);
  }

  #wake(uid: string, object: T): void {
    const { clock, wake } = this.#options;
    wake(object, `${this.#started}-${clock.now()}`);
    this.#unanswered.add(uid);
  }

  #expect(uid: string, object: T): void {
    const { clock, random, unsettledMs } = this.#options;
    const next = clock.now() + jittered(unsettledMs, random);
    this.#settled.delete(uid);
    // The time is never postponed, so that an object that changes all the time is woken too.
    this.#schedule.set(uid, Math.min(this.#schedule.at(uid) ?? next, next), object);
  }

  #settle(uid: string, object: T): void {
    this.#schedule.delete(uid);
    this.#settled.set(uid, object);
  }
}
