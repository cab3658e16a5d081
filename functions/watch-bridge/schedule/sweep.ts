import { type Clock, jittered } from '#shared/async';

export interface SweepOptions<T> {
  clock: Clock;
  random(): number;
  /** ms between two sweeps. */
  everyMs: number;
  /** Called at the start of each sweep: the objects that it is about. Default: all. */
  select?(): (object: T) => boolean;
  /** Called for each object; `epoch` differs for each sweep. */
  wake(uid: string, object: T, epoch: string): void;
}

/** Objects that one sweep wakes each second: what a broker takes without holding up other wakes. */
const perSecond = 100;

/**
 * Wakes all its objects at intervals, in one bunch and not each at its own time: functions can scale to zero between two bunches. The
 * interval is jittered for the sweep as a whole, so that bridges do not keep step. A large bunch is sent in portions, one each second.
 */
export class Sweep<T> {
  readonly #options: SweepOptions<T>;
  readonly #objects = new Map<string, T>();
  readonly #portions = new Map<string, () => void>();
  #cancel: () => void = () => undefined;

  constructor(options: SweepOptions<T>) {
    this.#options = options;
    this.#schedule(options.everyMs);
  }

  set(uid: string, object: T): void {
    this.#objects.set(uid, object);
  }

  get(uid: string): T | undefined {
    return this.#objects.get(uid);
  }

  delete(uid: string): void {
    this.#objects.delete(uid);
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
    const uids = [...this.#objects].filter(([, object]) => isMeant(object)).map(([uid]) => uid);
    // However many there are, a sweep ends well before the next one begins.
    const size = Math.max(perSecond, Math.ceil(uids.length / Math.max(1, everyMs / 2_000)));
    this.#wake(uids, size, String(clock.now()));
  }

  #wake(uids: readonly string[], size: number, epoch: string): void {
    this.#portions.delete(epoch);
    for (const uid of uids.slice(0, size)) {
      const object = this.#objects.get(uid);
      if (object !== undefined) this.#options.wake(uid, object, epoch);
    }
    const rest = uids.slice(size);
    if (rest.length === 0) return;
    this.#portions.set(
      epoch,
      this.#options.clock.after(1_000, () => this.#wake(rest, size, epoch)),
    );
  }
}
