import type { Id } from './object-table.ts';

/** A set of ids in one bit for each id below the largest, beside the JavaScript heap: a Set takes some two hundred times that. Each id stands for itself. */
export class IdSet {
  #words = new Uint32Array(32);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(id: Id): Id | undefined {
    return this.#has(id) ? id : undefined;
  }

  set(id: Id): void {
    if (this.#has(id)) return;
    if (id >>> 5 >= this.#words.length) {
      const grown = new Uint32Array(Math.ceil((id >>> 5) * 1.25) + 1);
      grown.set(this.#words);
      this.#words = grown;
    }
    this.#flip(id);
    this.#size += 1;
  }

  /** True if it was there. */
  delete(id: Id): boolean {
    if (!this.#has(id)) return false;
    this.#flip(id);
    this.#size -= 1;
    return true;
  }

  clear(): void {
    this.#words.fill(0);
    this.#size = 0;
  }

  /** Those that are there now, whatever becomes of them while they are walked through. */
  snapshot(): Iterable<[Id, Id]> {
    return walk(this.#words.slice());
  }

  #has(id: Id): boolean {
    return (((this.#words[id >>> 5] ?? 0) >>> (id & 31)) & 1) === 1;
  }

  #flip(id: Id): void {
    this.#words[id >>> 5] = (this.#words[id >>> 5] ?? 0) ^ (1 << (id & 31));
  }
}

function* walk(words: Uint32Array): Generator<[Id, Id], void, undefined> {
  for (const [at, word] of words.entries())
    for (let rest = word; rest !== 0; rest &= rest - 1) {
      const id = at * 32 + 31 - Math.clz32(rest & -rest);
      yield [id, id];
    }
}
