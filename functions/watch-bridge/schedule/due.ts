import { type Clock, DelayQueue, jittered } from '#shared/async';

export interface DueOptions<T> {
  clock: Clock;
  random(): number;
  /** ms after which a time that nobody acted on fires again. */
  repeatMs: number;
  /** The next time (ms since the epoch) at which something is to be done about the object, if any. */
  dueAt(object: T): number | undefined;
  fire(object: T, epoch: string): void;
}

/**
 * Fires when an object's time has come: a retry, a TTL, a look at a Secret. It fires again and again until a newer state of the
 * object has another time or none, because the first wake may be lost.
 */
export class DueTimes<T> {
  readonly #options: DueOptions<T>;
  readonly #schedule: DelayQueue<T>;
  /** The time each waiting key was set for, apart from repetitions. */
  readonly #times = new Map<string, number>();

  constructor(options: DueOptions<T>) {
    this.#options = options;
    this.#schedule = new DelayQueue(options.clock, (uid, object) => this.#fire(uid, object));
  }

  get size(): number {
    return this.#schedule.size;
  }

  /** Takes the newest state of an object. */
  note(uid: string, object: T): void {
    const at = this.#options.dueAt(object);
    if (at === undefined) {
      this.forget(uid);
      return;
    }
    const same = this.#times.get(uid) === at;
    this.#times.set(uid, at);
    // A time that has fired already keeps the time of its repetition.
    this.#schedule.set(uid, same ? (this.#schedule.at(uid) ?? at) : at, object);
  }

  forget(uid: string): void {
    this.#schedule.delete(uid);
    this.#times.delete(uid);
  }

  close(): void {
    this.#schedule.close();
  }

  #fire(uid: string, object: T): void {
    const { clock, random, repeatMs, fire } = this.#options;
    this.#schedule.set(uid, clock.now() + jittered(repeatMs, random), object);
    fire(object, String(clock.now()));
  }
}
