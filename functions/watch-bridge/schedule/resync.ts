import type { Clock } from '#shared/async';
import { type Kept, KeptMap, Sweep } from './sweep.ts';

export interface ResyncOptions<T, K> {
  clock: Clock;
  random(): number;
  /** ms between resyncs of an object that is not settled. */
  unsettledMs: number;
  /** ms between resyncs of a settled object. */
  settledMs: number;
  isUnsettled(object: T): boolean;
  /** Whether an object that is not settled waits for something outside, and for no function. It is woken as rarely as a settled one. */
  isInStep(object: T): boolean;
  /** Whether an object that is not settled waits for a person: after some resyncs that changed nothing it is woken as rarely as a settled one. */
  waitsForPerson(object: T): boolean;
  /** Wakes the object; `epoch` differs for each resync. */
  wake(object: T, epoch: string): void;
  /** Makes room for what may be all objects. Default: a Map. */
  kept?(): Kept<K, T>;
}

/** Objects that are not settled are woken in so many portions per interval, each of at most so many objects. */
const portions = 60;
const portionSize = 20;
/** Objects that a portion looks at, at most: most of them may wait for something outside. */
const mostLooks = 500;
/** So often what waits for a person is woken before it counts as settled: whoever mends it at once sees that within an interval. */
const mostTries = 10;
/** At the start of the bridge the interval is shorter by this factor, until the usual one has passed. */
const eagerness = 6;
/** An object that changes all the time is passed over for so many intervals at most. */
const longestRest = 5;

interface Waiting<T> {
  object: T;
  /** When it was last woken, delivered or changed, ms since the epoch. */
  touched: number;
  /** When a resync last woke it; before that, when it came here. */
  resynced: number;
  /** It is woken once more, even if it looks settled by then. */
  again: boolean;
  /** Resyncs that have woken it while it waited for a person. */
  tries: number;
}

/**
 * Wakes every object at intervals: often while it is not settled; rarely when it is, all in one bunch. Brokers may drop events and
 * this process may be killed, so the liveness of the conduit rests on the resync and not on delivery.
 *
 * Of the objects that are not settled, those that nothing has happened to for longest go first, and those to which something has
 * happened within the last interval are passed over. The number per interval is bounded. So while functions lag behind, the resync
 * does not add to what they have to do. What waits for something outside, as for the end of a transfer, is only looked at, not woken;
 * what waits for a person is left to the bunch after a while, so that functions can sleep.
 */
export class Resync<T, K = string> {
  readonly #options: ResyncOptions<T, K>;
  /** Objects that are not settled, or may not be, in the order in which they were last touched. */
  readonly #unsettled = new Map<K, Waiting<T>>();
  readonly #settled: Sweep<T, K>;
  /** Objects that a resync has woken and that have neither changed nor been woken for another reason since. */
  readonly #unanswered: Kept<K, T>;
  readonly #started: number;
  #eagerUntil = Number.NEGATIVE_INFINITY;
  /** How often an object changed since the last portion. */
  #changes = 0;
  /** Before this time there is no further portion. */
  #notBefore = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;

  constructor(options: ResyncOptions<T, K>) {
    const { clock, random, settledMs, kept = () => new KeptMap<K, T>() } = options;
    this.#options = options;
    this.#started = clock.now();
    this.#unanswered = kept();
    this.#settled = new Sweep({
      clock,
      random,
      everyMs: settledMs,
      kept: kept(),
      wake: (key, object) => this.#wake(key, object),
    });
  }

  get unsettled(): number {
    return this.#unsettled.size;
  }

  /** True for an object that is not settled, or may not be. */
  isWaiting(key: K): boolean {
    return this.#unsettled.has(key);
  }

  *unsettledObjects(): Iterable<T> {
    for (const { object } of this.#unsettled.values()) yield object;
  }

  /**
   * Takes the newest state of an object. Returns true when it changed after a resync without another wake in between: an event was
   * lost, and the resync found the work.
   */
  update(key: K, object: T): boolean {
    this.#changes += 1;
    const foundWork = this.#unanswered.delete(key);
    const isDoubtful = this.#unsettled.get(key)?.again === true;
    if (isDoubtful || this.#options.isUnsettled(object)) this.#expect(key, object);
    else this.#settle(key, object);
    return foundWork;
  }

  /**
   * The object is woken: it is looked at again with the next resync of what is unsettled. With `again` it is woken then whatever it looks
   * like, for what it does not show itself: which type or template it was judged by.
   */
  doubt(key: K, again = false): void {
    const object = this.#settled.get(key);
    if (object !== undefined) this.#expect(key, object);
    const waiting = this.#unsettled.get(key);
    if (waiting !== undefined && again) waiting.again = true;
  }

  /**
   * Every kind has been listed. What is not settled is woken more often for one interval: where everything starts at once, the broker and
   * the functions are not ready yet and lose what they take. What is settled is woken within about that interval, for what changed while
   * nobody watched.
   */
  start(): void {
    const { clock, unsettledMs } = this.#options;
    this.#eagerUntil = clock.now() + unsettledMs;
    this.#settled.soon(unsettledMs);
    this.#cancel?.();
    this.#cancel = undefined;
    this.#arm();
  }

  /** The object is woken for another reason, so its next change does not count as found by a resync. */
  woken(key: K): void {
    this.#unanswered.delete(key);
    this.touch(key);
  }

  /** The broker has taken a wake of the object: functions get an interval to act on it. */
  touch(key: K): void {
    const waiting = this.#unsettled.get(key);
    const now = this.#options.clock.now();
    if (waiting === undefined || now - waiting.resynced >= longestRest * this.#options.unsettledMs) return;
    // Put behind the others.
    this.#unsettled.delete(key);
    this.#unsettled.set(key, { ...waiting, touched: now });
  }

  forget(key: K): void {
    this.#unsettled.delete(key);
    this.#settled.delete(key);
    this.#unanswered.delete(key);
  }

  close(): void {
    this.#cancel?.();
    this.#unsettled.clear();
    this.#settled.close();
  }

  #wake(key: K, object: T): void {
    const { clock, wake } = this.#options;
    wake(object, `${this.#started}-${clock.now()}`);
    this.#unanswered.set(key, object);
  }

  #expect(key: K, object: T): void {
    const now = this.#options.clock.now();
    const known = this.#unsettled.get(key);
    this.#settled.delete(key);
    if (known === undefined)
      this.#unsettled.set(key, { object, touched: now, resynced: now, again: false, tries: 0 });
    else {
      known.object = object;
      this.touch(key);
    }
    this.#arm();
  }

  #settle(key: K, object: T): void {
    this.#unsettled.delete(key);
    this.#settled.set(key, object);
  }

  #arm(): void {
    const { clock } = this.#options;
    const [first] = this.#unsettled.values();
    if (first === undefined || this.#cancel !== undefined) return;
    const at = Math.max(first.touched + this.#interval(), this.#notBefore);
    this.#cancel = clock.after(at - clock.now(), () => this.#sendPortion());
  }

  /** ms for which an object that is not settled is left alone after it was touched. */
  #interval(): number {
    const { clock, unsettledMs } = this.#options;
    return clock.now() < this.#eagerUntil ? unsettledMs / eagerness : unsettledMs;
  }

  #sendPortion(): void {
    const { clock, unsettledMs, settledMs, isUnsettled, isInStep, waitsForPerson } = this.#options;
    const now = clock.now();
    this.#cancel = undefined;
    this.#notBefore = now + unsettledMs / portions;
    // Where much changes, functions are at work and may be late: nothing is woken so early to hurry them.
    const isEager = now < this.#eagerUntil;
    let left = isEager ? Math.max(1, portionSize - this.#changes) : portionSize;
    this.#changes = 0;
    let looks = mostLooks;
    for (const [key, waiting] of this.#unsettled) {
      const { object, touched, resynced, again, tries } = waiting;
      if (left === 0 || looks === 0 || touched + this.#interval() > now) break;
      looks -= 1;
      this.#unsettled.delete(key);
      if (!again && now - resynced < settledMs && isUnsettled(object) && isInStep(object))
        this.#unsettled.set(key, { ...waiting, touched: now });
      else if (again || (isUnsettled(object) && !(waitsForPerson(object) && tries >= mostTries))) {
        const next = waitsForPerson(object) ? tries + 1 : 0;
        this.#unsettled.set(key, { object, touched: now, resynced: now, again: false, tries: next });
        this.#wake(key, object);
        left -= 1;
      } else this.#settled.set(key, object);
    }
    this.#arm();
  }
}
