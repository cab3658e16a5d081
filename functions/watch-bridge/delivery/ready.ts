/** Of so many that are taken, one may be of those that are not urgent: they are late while others wait, but none waits for ever. */
const share = 8;

/** Events that are due, by key, in order of arrival: urgent ones first, others at least one in eight. */
export class Ready<P> {
  readonly #isUrgent: (one: P) => boolean;
  readonly #urgent = new Map<string, P>();
  readonly #others = new Map<string, P>();
  #taken = 0;

  constructor(isUrgent: (one: P) => boolean) {
    this.#isUrgent = isUrgent;
  }

  get size(): number {
    return this.#urgent.size + this.#others.size;
  }

  get(key: string): P | undefined {
    return this.#urgent.get(key) ?? this.#others.get(key);
  }

  set(key: string, one: P): void {
    this.delete(key);
    (this.#isUrgent(one) ? this.#urgent : this.#others).set(key, one);
  }

  delete(key: string): void {
    this.#urgent.delete(key);
    this.#others.delete(key);
  }

  clear(): void {
    this.#urgent.clear();
    this.#others.clear();
  }

  /** Takes out the next one whose key is free. */
  take(isFree: (key: string) => boolean): [string, P] | undefined {
    this.#taken += 1;
    const isTheirTurn = this.#taken % share === 0;
    const order = isTheirTurn ? [this.#others, this.#urgent] : [this.#urgent, this.#others];
    for (const ones of order)
      for (const [key, one] of ones)
        if (isFree(key)) {
          ones.delete(key);
          return [key, one];
        }
    return undefined;
  }
}
