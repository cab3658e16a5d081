import { compareKeys } from '../interface/keys.ts';
import type { IndexedBy, StoredItem } from '../interface/store.ts';

/** Items of a collection by words, kept in step with it: finding a few among many costs what the few cost. */
export class ItemIndex {
  readonly #by: IndexedBy;
  readonly #found = new Map<string, Map<string, StoredItem>>();
  readonly #wordsOf = new Map<string, readonly string[]>();

  /** Set when all items have been put. */
  isComplete = false;

  constructor(by: IndexedBy) {
    this.#by = by;
  }

  /** Takes the newest state of an item; one of another collection changes nothing. */
  put(item: StoredItem): void {
    if (!item.key.startsWith(this.#by.prefix)) return;
    this.delete(item.key);
    const words = this.#by.wordsOf(item);
    if (words.length === 0) return;
    this.#wordsOf.set(item.key, words);
    for (const word of words) {
      const found = this.#found.get(word);
      if (found === undefined) this.#found.set(word, new Map([[item.key, item]]));
      else found.set(item.key, item);
    }
  }

  delete(key: string): void {
    for (const word of this.#wordsOf.get(key) ?? []) {
      const found = this.#found.get(word);
      found?.delete(key);
      if (found?.size === 0) this.#found.delete(word);
    }
    this.#wordsOf.delete(key);
  }

  /** The items with one of these words whose keys begin with `prefix` and are >= `start`, in byte order of the keys. */
  range(words: readonly string[], prefix: string, start: string): StoredItem[] {
    const found = new Set(words.flatMap((word) => [...(this.#found.get(word)?.values() ?? [])]));
    return [...found]
      .filter(({ key }) => key.startsWith(prefix) && compareKeys(key, start) >= 0)
      .sort((a, b) => compareKeys(a.key, b.key));
  }
}
