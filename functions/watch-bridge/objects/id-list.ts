import type { Id } from './object-table.ts';

/** Some of very many ids, sorted, in four to six bytes each: for groups that may have one member or all. */
export class IdList {
  #ids = new Uint32Array(2);
  /** They stand from here to before there: who takes all out in order moves none. */
  #from = 0;
  #to = 0;

  get size(): number {
    return this.#to - this.#from;
  }

  /** What is there already stays there once. */
  add(id: Id): void {
    if (this.#to === this.#ids.length) this.#makeRoom();
    const place = this.#placeOf(id);
    if (place < this.#to && this.#ids[place] === id) return;
    this.#ids.copyWithin(place + 1, place, this.#to);
    this.#ids[place] = id;
    this.#to += 1;
  }

  /** True if it was there. */
  delete(id: Id): boolean {
    const place = this.#placeOf(id);
    if (place === this.#to || this.#ids[place] !== id) return false;
    if (place - this.#from < this.#to - place) {
      this.#ids.copyWithin(this.#from + 1, this.#from, place);
      this.#from += 1;
    } else {
      this.#ids.copyWithin(place, place + 1, this.#to);
      this.#to -= 1;
    }
    return true;
  }

  /** Nothing may change it meanwhile. */
  *[Symbol.iterator](): Generator<Id, void, undefined> {
    for (let place = this.#from; place < this.#to; place += 1) yield this.#ids[place] as Id;
  }

  #makeRoom(): void {
    const ids = new Uint32Array(Math.ceil((this.size + 1) * 1.5));
    ids.set(this.#ids.subarray(this.#from, this.#to));
    this.#to -= this.#from;
    this.#from = 0;
    this.#ids = ids;
  }

  /** Where the id is, or would be. */
  #placeOf(id: Id): number {
    let [low, high] = [this.#from, this.#to];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ids[middle] as Id) < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
