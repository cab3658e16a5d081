import { randomInt } from 'node:crypto';

const prime = 2 ** 31 - 1;
/** Below 2^21, so that a step is exact in a double. Random: nobody can choose names that collide. */
const base = randomInt(2 ** 20, 2 ** 21);

/** A number below 2^31 for a text; two texts of n characters have the same one in n of a million cases or fewer. */
export function hashOf(text: string): number {
  let hash = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const step = hash * base + text.charCodeAt(at);
    // The remainder by 2^31 - 1 without a division: 2^31 leaves one.
    const high = Math.floor(step / 2 ** 31);
    const sum = step - high * 2 ** 31 + high;
    hash = sum >= prime ? sum - prime : sum;
  }
  return hash;
}

/**
 * Numbers of objects by the hash of a key, in 8 bytes for each place: a Map of strings takes ten times that. Two keys may have the same hash,
 * and a key may have several objects: who asks has to look whether an object is the one that is meant.
 */
export class HashIndex {
  /** By place: the hash and the number plus one; zero is a free place. Two thirds of the places are taken at most: all children of an Order have one hash, and where it is fuller a search passes those of many. */
  #hashes = new Uint32Array(16);
  #numbers = new Uint32Array(16);
  #count = 0;

  /** What is there already stays there once. */
  add(hash: number, number: number): void {
    if ((this.#count + 1) * 3 > this.#hashes.length * 2) this.#grow();
    if (this.#put(hash, number + 1)) this.#count += 1;
  }

  *get(hash: number): Generator<number, void, undefined> {
    const mask = this.#hashes.length - 1;
    for (let place = hash & mask; this.#numbers[place]; place = (place + 1) & mask)
      if (this.#hashes[place] === hash) yield (this.#numbers[place] ?? 0) - 1;
  }

  delete(hash: number, number: number): void {
    const mask = this.#hashes.length - 1;
    for (let place = hash & mask; this.#numbers[place]; place = (place + 1) & mask)
      if (this.#numbers[place] === number + 1 && this.#hashes[place] === hash) {
        this.#clear(place);
        this.#count -= 1;
        return;
      }
  }

  /** Frees a place, and moves what stands behind it so that no search ends too early. */
  #clear(place: number): void {
    const mask = this.#hashes.length - 1;
    let free = place;
    for (let at = (place + 1) & mask; this.#numbers[at]; at = (at + 1) & mask) {
      const wanted = (this.#hashes[at] ?? 0) & mask;
      // It may move unless its own place lies between the free one and where it stands.
      if (((at - wanted) & mask) < ((at - free) & mask)) continue;
      this.#hashes[free] = this.#hashes[at] ?? 0;
      this.#numbers[free] = this.#numbers[at] ?? 0;
      free = at;
    }
    this.#numbers[free] = 0;
  }

  /** False if it is there already. */
  #put(hash: number, entry: number): boolean {
    const mask = this.#hashes.length - 1;
    let place = hash & mask;
    for (; this.#numbers[place]; place = (place + 1) & mask)
      if (this.#numbers[place] === entry && this.#hashes[place] === hash) return false;
    this.#hashes[place] = hash;
    this.#numbers[place] = entry;
    return true;
  }

  #grow(): void {
    const [hashes, numbers] = [this.#hashes, this.#numbers];
    this.#hashes = new Uint32Array(hashes.length * 2);
    this.#numbers = new Uint32Array(hashes.length * 2);
    for (const [place, entry] of numbers.entries()) if (entry > 0) this.#put(hashes[place] ?? 0, entry);
  }
}
