type Some<Item> = readonly [Item, ...Item[]];

interface Batch<Item, Answer> {
  items: [Item, ...Item[]];
  answer: PromiseWithResolvers<Answer>;
}

/**
 * Coalesces requests for items into calls. Requests during a call go into the next call, and requests in one turn of the event loop into
 * one call. So each call begins after all of its items were requested. The answer of a call is shared by its items.
 */
export class Batches<Item, Answer> {
  readonly #call: (items: Some<Item>) => Promise<Answer>;
  readonly #most: number;
  #waiting: Batch<Item, Answer>[] = [];
  #busy = false;

  /** @param most items per call */
  constructor(call: (items: Some<Item>) => Promise<Answer>, most: number) {
    this.#call = call;
    this.#most = most;
  }

  /** True while nothing is requested. */
  get idle(): boolean {
    return !this.#busy;
  }

  /** Resolves with the answer of the call that the item goes into; rejects with its failure. */
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
