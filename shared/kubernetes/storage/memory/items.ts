import { yieldToEventLoop } from '#shared/base/async';
import { compareKeys } from '../interface/keys.ts';
import type { IndexLookup, ItemIndexer, StoredItem, StoreEvent } from '../interface/store.ts';
import { ItemIndex } from './item-index.ts';
import { lowerBound, SortedItems } from './sorted-items.ts';

/** A range of keys. */
export interface Range {
  prefix: string;
  start: string;
  limit: number | undefined;
}

export interface Page {
  items: StoredItem[];
  remaining: number;
}

/** An item at a past revision, whose value is read lazily. */
export interface PastItem {
  key: string;
  read(): StoredItem;
}

/** Keys whose state at a past revision differs from the current state, with their past items (undefined: absent). */
export type Overlay = ReadonlyMap<string, PastItem | undefined>;

/** Items indexed between two yields to the event loop; each is parsed. */
const indexBatch = 200;

/** The current items in byte order of their keys, with indexes. */
export class Items {
  readonly #sorted: SortedItems;
  readonly #indexes = new Map<ItemIndexer['indexValuesOf'], ItemIndex>();
  /** Indexes that are being built. */
  readonly #building = new Map<ItemIndexer['indexValuesOf'], Promise<unknown>>();

  /** @param sorted items in byte order of their keys */
  constructor(sorted: readonly StoredItem[] = []) {
    this.#sorted = new SortedItems(sorted);
  }

  get(key: string): StoredItem | undefined {
    return this.#sorted.get(key);
  }

  apply(event: StoreEvent): void {
    if (event.type === 'delete') {
      this.#sorted.delete(event.key);
      for (const index of this.#indexes.values()) index.delete(event.key);
      return;
    }
    const item = itemOf(event);
    this.#sorted.set(item);
    for (const index of this.#indexes.values()) index.put(item);
  }

  /**
   * Returns the items of a range, without a limit, that have one of the index values. Creates the index on the first lookup; returns all
   * items of the range while it is being built.
   */
  lookUp({ indexer, values }: IndexLookup, { prefix, start }: Range): Page {
    const index = this.#indexes.get(indexer.indexValuesOf) ?? this.#buildIndex(indexer);
    if (!index.isComplete) return this.page({ prefix, start, limit: undefined });
    return { items: index.range(values, prefix, start), remaining: 0 };
  }

  /** Resolves when the index of a large collection is built, which yields to the event loop; undefined if the index is complete. */
  whenIndexed(indexer: ItemIndexer): Promise<unknown> | undefined {
    if (!this.#indexes.has(indexer.indexValuesOf)) this.#buildIndex(indexer);
    return this.#building.get(indexer.indexValuesOf);
  }

  #buildIndex(indexer: ItemIndexer): ItemIndex {
    const { indexValuesOf: wordsOf, prefix } = indexer;
    const index = new ItemIndex(indexer);
    this.#indexes.set(wordsOf, index);
    const next = this.#fill(index, prefix, prefix);
    if (next === undefined) return index;
    const rest = this.#fillRest(index, prefix, next)
      // The next lookup retries after a failure.
      .catch(() => this.#indexes.delete(wordsOf))
      .finally(() => this.#building.delete(wordsOf));
    this.#building.set(wordsOf, rest);
    return index;
  }

  async #fillRest(index: ItemIndex, prefix: string, from: string): Promise<void> {
    for (let start: string | undefined = from; start !== undefined; ) {
      await yieldToEventLoop();
      start = this.#fill(index, prefix, start);
    }
  }

  /** Indexes a batch of items; `apply` adds concurrent writes. Returns the start of the next batch; undefined: the index is complete. */
  #fill(index: ItemIndex, prefix: string, start: string): string | undefined {
    const items = this.#sorted.range(prefix, start, indexBatch);
    for (const item of items) index.put(item);
    const last = items.at(-1);
    if (last && items.length === indexBatch) return `${last.key}\0`;
    index.isComplete = true;
    return undefined;
  }

  /** Returns a page of a range in its current state, or with an overlay in a past state. */
  page(range: Range, overlay: Overlay = new Map()): Page {
    const { prefix, start, limit } = range;
    const changed = inRange(overlay.keys(), range);
    if (changed.length === 0) {
      const items = this.#sorted.range(prefix, start, limit);
      return { items, remaining: this.#sorted.count(prefix, start) - items.length };
    }
    // Changed keys may precede the keys of the page.
    const maxItems = limit === undefined ? undefined : limit + changed.length;
    const kept = this.#sorted.range(prefix, start, maxItems).filter(({ key }) => !overlay.has(key));
    const past = changed.flatMap((key) => overlay.get(key) ?? []);
    const gone = changed.filter((key) => this.#sorted.get(key) !== undefined);
    const total = this.#sorted.count(prefix, start) - gone.length + past.length;
    const items = merge(kept, past)
      .slice(0, limit)
      .map((item) => ('read' in item ? item.read() : item));
    return { items, remaining: total - items.length };
  }
}

/** Merges a sorted list and an unsorted one with disjoint keys. */
function merge(sorted: readonly StoredItem[], unsorted: readonly PastItem[]): (StoredItem | PastItem)[] {
  const others = unsorted.toSorted((a, b) => compareKeys(a.key, b.key));
  const merged: (StoredItem | PastItem)[] = [];
  let next = 0;
  for (const item of sorted) {
    for (let other = others[next]; other && compareKeys(other.key, item.key) < 0; other = others[next]) {
      merged.push(other);
      next += 1;
    }
    merged.push(item);
  }
  return [...merged, ...others.slice(next)];
}

function inRange(keys: Iterable<string>, range: Range): string[] {
  const from = lowerBound(range.prefix, range.start);
  return Array.from(keys).filter((key) => key.startsWith(range.prefix) && compareKeys(key, from) >= 0);
}

const itemsOfPuts = new WeakMap<StoreEvent, StoredItem>();

/** Returns the item written by a put: always the same object, because caches are keyed by it. */
export function itemOf(event: StoreEvent & { type: 'put' }): StoredItem {
  let item = itemsOfPuts.get(event);
  if (!item) {
    item = { key: event.key, value: event.value, revision: event.revision };
    itemsOfPuts.set(event, item);
  }
  return item;
}
