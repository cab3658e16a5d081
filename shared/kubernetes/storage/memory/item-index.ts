import { compareKeys } from '../interface/keys.ts';
import type { ItemIndexer, StoredItem } from '../interface/store.ts';

/** An index of the items of a collection by index values. */
export class ItemIndex {
  readonly #indexer: ItemIndexer;
  readonly #itemsOf = new Map<string, Map<string, StoredItem>>();
  readonly #valuesOf = new Map<string, readonly string[]>();

  /** True once all existing items are added. */
  isComplete = false;

  constructor(indexer: ItemIndexer) {
    this.#indexer = indexer;
  }

  /** Adds or replaces an item. Ignores items of other collections. */
  put(item: StoredItem): void {
    if (!item.key.startsWith(this.#indexer.prefix)) return;
    this.delete(item.key);
    const values = this.#indexer.indexValuesOf(item);
    if (values.length === 0) return;
    this.#valuesOf.set(item.key, values);
    for (const value of values) {
      const found = this.#itemsOf.get(value);
      if (found === undefined) this.#itemsOf.set(value, new Map([[item.key, item]]));
      else found.set(item.key, item);
    }
  }

  delete(key: string): void {
    for (const value of this.#valuesOf.get(key) ?? []) {
      const found = this.#itemsOf.get(value);
      found?.delete(key);
      if (found?.size === 0) this.#itemsOf.delete(value);
    }
    this.#valuesOf.delete(key);
  }

  /** Returns the items with one of the values whose keys have `prefix` and are >= `start`, in byte order. */
  range(values: readonly string[], prefix: string, start: string): StoredItem[] {
    const found = new Set(values.flatMap((value) => [...(this.#itemsOf.get(value)?.values() ?? [])]));
    return [...found]
      .filter(({ key }) => key.startsWith(prefix) && compareKeys(key, start) >= 0)
      .sort((a, b) => compareKeys(a.key, b.key));
  }
}
