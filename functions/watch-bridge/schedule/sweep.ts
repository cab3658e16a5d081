import { type Clock, jittered } from '#shared/async';

/** Objects by their keys. */
export interface Kept<K, T> {
  readonly size: number;
  get(key: K): T | undefined;
  set(key: K, object: T): unknown;
  /** True if it was there. */
  delete(key: K): boolean;
  clear(): void;
  /** Those that are there now, whatever becomes of them while they are walked through. */
  snapshot(): Iterable<[K, T]>;
}

export class KeptMap<K, T> extends Map<K, T> implements Kept<K, T> {
  snapshot(): Iterable<[K, T]> {
    return [...this];
  }
}

export interface SweepOptions<T, K> {
  clock: Clock;
  random(): number;
  /** ms between two sweeps. */
  everyMs: number;
  /** Where the objects are kept. Default: a Map. */
  kept?: Kept<K, T>;
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
  readonly #objects: Kept<K, T>;
  readonly #portions = new Map<string, () => void>();
  #cancel: () => void = () => undefined;

  constructor(options: SweepOptions<T, K>) {
    this.#options = options;
    this.#objects = options.kept ?? new KeptMap();
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
    const isMeant = select?.();
    const all = this.#objects.snapshot();
    const meant = isMeant === undefined ? undefined : [...all].filter(([, object]) => isMeant(object));
    // However many there are, a sweep ends well before the next one begins.
    const count = meant?.length ?? this.#objects.size;
    const size = Math.max(perSecond, Math.ceil(count / Math.max(1, everyMs / 2_000)));
    this.#wake({ left: (meant ?? all)[Symbol.iterator](), size, epoch: String(clock.now()) });
  }

  /** Wakes the next portion, and the ones after it. */
  #wake(bunch: { left: Iterator<[K, unknown]>; size: number; epoch: string }): void {
    const { left, size, epoch } = bunch;
    this.#portions.delete(epoch);
    for (let taken = 0; taken < size; taken += 1) {
      const next = left.next();
      if (next.done === true) return;
      const [key] = next.value;
      const object = this.#objects.get(key);
      if (object !== undefined) this.#options.wake(key, object, epoch);
    }
    this.#portions.set(
      epoch,
      this.#options.clock.after(1_000, () => this.#wake(bunch)),
    );
  }
}
