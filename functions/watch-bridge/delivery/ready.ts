/** Of so many that are taken, one may be a repetition while others wait: they are late then, but none waits for ever. */
const share = 8;

/**
 * What is due, by key, in order of arrival. What somebody waits for goes first; what only repeats itself, as a resync does in bunches of hundreds,
 * gets the rest, and an eighth at least.
 */
export class Ready<P> {
  readonly #isRepetition: (one: P) => boolean;
  readonly #first = new Map<string, P>();
  readonly #repetitions = new Map<string, P>();
  #taken = 0;

  /** @param isRepetition the same for all of one key */
  constructor(isRepetition: (one: P) => boolean) {
    this.#isRepetition = isRepetition;
  }

  get size(): number {
    return this.#first.size + this.#repetitions.size;
  }

  get(key: string): P | undefined {
    return this.#first.get(key) ?? this.#repetitions.get(key);
  }

  set(key: string, one: P): void {
    (this.#isRepetition(one) ? this.#repetitions : this.#first).set(key, one);
  }

  delete(key: string): void {
    this.#first.delete(key);
    this.#repetitions.delete(key);
  }

  clear(): void {
    this.#first.clear();
    this.#repetitions.clear();
  }

  /** Takes out the next one whose key is free. */
  take(isFree: (key: string) => boolean): [string, P] | undefined {
    this.#taken += 1;
    const isTheirTurn = this.#taken % share === 0;
    const order = isTheirTurn ? [this.#repetitions, this.#first] : [this.#first, this.#repetitions];
    for (const ones of order)
      for (const [key, one] of ones)
        if (isFree(key)) {
          ones.delete(key);
          return [key, one];
        }
    return undefined;
  }
}
