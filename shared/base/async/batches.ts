type Some<Item> = readonly [Item, ...Item[]];

interface Batch<Item, Answer> {
  items: [Item, ...Item[]];
  answer: PromiseWithResolvers<Answer>;
}

/**
 * One call for several items. What is asked for while a call is under way goes into the next one, and what is asked for in one turn of the
 * event loop goes into one call. So each call begins after all that it answers were asked for. The answer of a call is for all
 * of its items.
 */
export class Batches<Item, Answer> {
  readonly #call: (items: Some<Item>) => Promise<Answer>;
  readonly #most: number;
  #waiting: Batch<Item, Answer>[] = [];
  #busy = false;

  /** @param most items in one call */
  constructor(call: (items: Some<Item>) => Promise<Answer>, most: number) {
    this.#call = call;
    this.#most = most;
  }

  /** True while nothing is asked for. */
  get idle(): boolean {
    return !this.#busy;
  }

  /** The answer of the call that the item goes into, or its failure. */
  ask(item: Item): Promise<Answer> {
    let last = this.#waiting.at(-1);
    if (last !== undefined && last.items.length < this.#most) last.items.push(item);
    else {
      last = { items: [item], answer: Promise.withResolvers() };
      this.#waiting.push(last);
    }
    if (!this.#busy) {
      this.#busy = true;
      setImmediate(() => void this.#run());
    }
    return last.answer.promise;
  }

  async #run(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      try {
        next.answer.resolve(await this.#call(next.items));
      } catch (caught) {
        next.answer.reject(caught);
      }
    }
    this.#busy = false;
  }
}
