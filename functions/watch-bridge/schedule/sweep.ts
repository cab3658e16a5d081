import { type Clock, jittered } from '#shared/async';

export interface SweepOptions<T, K> {
  clock: Clock;
  random(): number;
  /** ms between two sweeps. */
  everyMs: number;
  /** Called at the start of each sweep: the objects that it is about. Default: all. */
  select?(): (object: T) => boolean;
  /** Called for each object; `epoch` differs for each sweep. */
  wake(key: K, object: T, epoch: string): void;
}

/** Objects that one sweep wakes each second: what a broker takes without holding up other wakes. */
const perSecond = 100;

/**
 * Wakes all its objects at intervals, in one bunch and not each at its own time: functions can scale to zero between two bunches. The
 * interval is jittered for the sweep as a whole, so that bridges do not keep step. A large bunch is sent in portions, one each second.
 */
export class Sweep<T, K = string> {
  readonly #options: SweepOptions<T, K>;
  readonly #objects = new Map<K, T>();
  readonly #portions = new Map<string, () => void>();
  #cancel: () => void = () => undefined;

  constructor(options: SweepOptions<T, K>) {
    this.#options = options;
    this.#schedule(options.everyMs);
  }

  set(key: K, object: T): void {
    this.#objects.set(key, object);
  }

  get(key: K): T | undefined {
    return this.#objects.get(key);
  }

  delete(key: K): void {
    this.#objects.delete(key);
  }

  /** The next sweep comes in about `ms`, and the ones after it at the usual interval. */
  soon(ms: number): void {
    this.#cancel();
    this.#schedule(ms);
  }

  close(): void {
    this.#cancel();
    for (const cancel of this.#portions.values()) cancel();
    this.#objects.clear();
  }

  #schedule(ms: number): void {
    const { clock, random } = this.#options;
    this.#cancel = clock.after(jittered(ms, random), () => this.#sweep());
  }

  #sweep(): void {
    const { clock, everyMs, select } = this.#options;
    this.#schedule(everyMs);
    const isMeant = select?.() ?? (() => true);
    const keys: K[] = [];
    for (const [key, object] of this.#objects) if (isMeant(object)) keys.push(key);
    // However many there are, a sweep ends well before the next one begins.
    const size = Math.max(perSecond, Math.ceil(keys.length / Math.max(1, everyMs / 2_000)));
    this.#wake({ keys, size, epoch: String(clock.now()) }, 0);
  }

  /** Wakes the portion that begins with key `from`, and the next ones after it. */
  #wake(bunch: { keys: readonly K[]; size: number; epoch: string }, from: number): void {
    const { keys, size, epoch } = bunch;
    const to = Math.min(from + size, keys.length);
    this.#portions.delete(epoch);
    for (let at = from; at < to; at += 1) {
      const key = keys[at] as K;
      const object = this.#objects.get(key);
      if (object !== undefined) this.#options.wake(key, object, epoch);
    }
    if (to === keys.length) return;
    this.#portions.set(
      epoch,
      this.#options.clock.after(1_000, () => this.#wake(bunch, to)),
    );
  }
}
