import { randomInt } from 'node:crypto';

const prime = 2 ** 31 - 1;
/** At most this part of the places is taken; where it would be more, there are so many times as many. */
const fullest = 0.8;
const growth = 1.25;
/** Below 2^21, so that a step is exact in a double. Random: nobody can choose names that collide. */
const base = randomInt(2 ** 20, 2 ** 21);

/** A number below 2^31 for a text; two texts of n characters have the same one in n of a million cases or fewer. */
export function hashOf(text: string): number {
  let hash = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const step = hash * base + text.charCodeAt(at);
    // The remainder by 2^31 - 1, since 2^31 leaves one: a tenth of the time that a division takes.
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
  /** By place: the hash and the number plus one; zero is a free place. Hashes are in order of size, but for those that had to go further. */
  #hashes = new Uint32Array(16);
  #numbers = new Uint32Array(16);
  #count = 0;

  /** What is there already stays there once. */
  add(hash: number, number: number): void {
    if (this.#count + 1 > this.#hashes.length * fullest) this.#grow();
    if (this.#put(hash, number + 1)) this.#count += 1;
  }

  *get(hash: number): Generator<number, void, undefined> {
    for (let place = this.#wanted(hash); this.#numbers[place]; place = this.#after(place))
      if (this.#hashes[place] === hash) yield (this.#numbers[place] ?? 0) - 1;
  }

  delete(hash: number, number: number): void {
    for (let place = this.#wanted(hash); this.#numbers[place]; place = this.#after(place))
      if (this.#numbers[place] === number + 1 && this.#hashes[place] === hash) {
        this.#clear(place);
        this.#count -= 1;
        return;
      }
  }

  /** Where a search for the hash begins. */
  #wanted(hash: number): number {
    return Math.floor((hash / 2 ** 31) * this.#hashes.length);
  }

  #after(place: number): number {
    return place + 1 === this.#hashes.length ? 0 : place + 1;
  }

  /** Frees a place, and moves what stands behind it so that no search ends too early. */
  #clear(place: number): void {
    const places = this.#hashes.length;
    const distance = (from: number, to: number) => (to < from ? to + places : to) - from;
    let free = place;
    for (let at = this.#after(place); this.#numbers[at]; at = this.#after(at)) {
      const wanted = this.#wanted(this.#hashes[at] ?? 0);
      // It may move unless its own place lies between the free one and where it stands.
      if (distance(wanted, at) < distance(free, at)) continue;
      this.#hashes[free] = this.#hashes[at] ?? 0;
      this.#numbers[free] = this.#numbers[at] ?? 0;
      free = at;
    }
    this.#numbers[free] = 0;
  }

  /** False if it is there already. */
  #put(hash: number, entry: number): boolean {
    let place = this.#wanted(hash);
    for (; this.#numbers[place]; place = this.#after(place))
      if (this.#numbers[place] === entry && this.#hashes[place] === hash) return false;
    this.#hashes[place] = hash;
    this.#numbers[place] = entry;
    return true;
  }

  #grow(): void {
    const [hashes, numbers] = [this.#hashes, this.#numbers];
    const places = Math.ceil(hashes.length * growth);
    this.#hashes = new Uint32Array(places);
    this.#numbers = new Uint32Array(places);
    let [former, place] = [-1, 0];
    for (const [at, entry] of numbers.entries()) {
      if (entry === 0) continue;
      const hash = hashes[at] ?? 0;
      // The children of an Order have one hash and stand together: each goes on where the one before it was put.
      if (hash !== former) place = this.#wanted(hash);
      while (this.#numbers[place]) place = this.#after(place);
      this.#hashes[place] = hash;
      this.#numbers[place] = entry;
      former = hash;
    }
  }
}
