import { type Clock, DelayQueue, doubled, jittered } from '#shared/async';

export interface DueOptions<T> {
  clock: Clock;
  random(): number;
  /** ms after which a due time fires again while the object still has it; each further time it is twice as long. */
  repeatMs: number;
  /** ms that this time grows to. */
  longestRepeatMs: number;
  /** The object's next due time (ms since the epoch), if it has one. */
  dueAt(object: T): number | undefined;
  /** False for an object whose due time fires once: a resync does the rest. */
  repeats(object: T): boolean;
  fire(object: T, epoch: string): void;
}

/**
 * Fires at the due time of each object: a retry, a TTL. It repeats until a newer state of the object has another due time or none,
 * because a wake may be lost; less and less often, because nobody may be there to handle it: an operator may have switched TTLs off.
 */
export class DueTimes<T> {
  readonly #options: DueOptions<T>;
  readonly #schedule: DelayQueue<T>;
  /** The due time of each object, without repetitions. */
  readonly #dueTimes = new Map<string, number>();
  /** How often the due time of each object has been repeated. */
  readonly #repetitions = new Map<string, number>();

  constructor(options: DueOptions<T>) {
    this.#options = options;
    this.#schedule = new DelayQueue(options.clock, (uid, object) => this.#fire(uid, object));
  }

  get size(): number {
    return this.#schedule.size;
  }

  /** Takes the newest state of an object. */
  update(uid: string, object: T): void {
    const at = this.#options.dueAt(object);
    // A time that is no number would stay at the top of the heap for good, and nothing below it would ever fire.
    if (at === undefined || !Number.isFinite(at)) {
      this.forget(uid);
      return;
    }
    const same = this.#dueTimes.get(uid) === at;
    const planned = this.#schedule.at(uid);
    if (same && planned === undefined && !this.#options.repeats(object)) return;
    this.#dueTimes.set(uid, at);
    if (!same) this.#repetitions.delete(uid);
    // A due time that has fired keeps the time of its repetition.
    this.#schedule.set(uid, same ? (planned ?? at) : at, object);
  }

  forget(uid: string): void {
    this.#schedule.delete(uid);
    this.#dueTimes.delete(uid);
    this.#repetitions.delete(uid);
  }

  close(): void {
    this.#schedule.close();
  }

  #fire(uid: string, object: T): void {
    const { clock, random, repeatMs, longestRepeatMs, repeats, fire } = this.#options;
    if (repeats(object)) {
      const before = this.#repetitions.get(uid) ?? 0;
      this.#repetitions.set(uid, before + 1);
      const pauseMs = jittered(doubled(repeatMs, before, longestRepeatMs), random);
      this.#schedule.set(uid, clock.now() + pauseMs, object);
    }
    fire(object, String(clock.now()));
  }
}
