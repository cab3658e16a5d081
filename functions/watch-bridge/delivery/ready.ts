import { FairQueue, type Owner } from '#shared/base/async';

/** Low-priority events get at least one in eight slots: they may be late while others wait, but are never starved. */
const share = 8;

export interface ReadyOptions<P> {
  /** False for an event of low priority. */
  isUrgent(one: P): boolean;
  ownerOf(one: P): Owner;
}

/** Due events by key. Urgent events come first, others get one slot in eight; in both groups namespaces take turns, then their Orders. */
export class Ready<P> {
  readonly #options: ReadyOptions<P>;
  readonly #urgent = new FairQueue<string, P>();
  readonly #others = new FairQueue<string, P>();
  #taken = 0;

  constructor(options: ReadyOptions<P>) {
    this.#options = options;
  }

  get size(): number {
    return this.#urgent.size + this.#others.size;
  }

  get(key: string): P | undefined {
    return this.#urgent.get(key) ?? this.#others.get(key);
  }

  set(key: string, one: P): void {
    this.delete(key);
    const { isUrgent, ownerOf } = this.#options;
    (isUrgent(one) ? this.#urgent : this.#others).enqueue(key, ownerOf(one), one);
  }

  /** Moves an event whose urgency has changed; the others keep their positions. */
  update(key: string): void {
    const known = this.get(key);
    if (known === undefined || this.#options.isUrgent(known) === (this.#urgent.get(key) !== undefined))
      return;
    this.set(key, known);
  }

  delete(key: string): void {
    this.#urgent.delete(key);
    this.#others.delete(key);
  }

  clear(): void {
    this.#urgent.clear();
    this.#others.clear();
  }

  /** Removes and returns the next event of a namespace that `mayServe`. */
  take(mayServe?: (namespace: string) => boolean): [string, P] | undefined {
    this.#taken += 1;
    const isTheirTurn = this.#taken % share === 0;
    const [first, second] = isTheirTurn ? [this.#others, this.#urgent] : [this.#urgent, this.#others];
    return first.dequeue(mayServe) ?? second.dequeue(mayServe);
  }
}
