import { ItemIndex } from './item-index.ts';
import { compareKeys } from './keys.ts';
import { lowerBound, SortedItems } from './sorted-items.ts';
import type { Finding, IndexedBy, StoredItem, StoreEvent } from './store.ts';

/** The requested part of a prefix; without `limit`, all of it. */
export interface Range {
  prefix: string;
  start: string;
  limit: number | undefined;
}

export interface Page {
  items: StoredItem[];
  remaining: number;
}

/** An item of the past, whose value is read only where it is asked for. */
export interface PastItem {
  key: string;
  read(): StoredItem;
}

/** Keys whose state at a past revision differs from today's, with what they held then (undefined: absent). */
export type Overlay = ReadonlyMap<string, PastItem | undefined>;

/** The current state: every key's item, in byte order of the keys. */
export class Items {
  readonly #sorted: SortedItems;
  readonly #indexes = new Map<IndexedBy['wordsOf'], ItemIndex>();

  /** `sorted` must be in byte order of its keys. */
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

  /** The items of a range, of all pages, that are found by one of the words. The first question makes the index. */
  found({ by, words }: Finding, { prefix, start }: Range): Page {
    let index = this.#indexes.get(by.wordsOf);
    if (index === undefined) {
      index = new ItemIndex(by, this.#sorted.range(by.prefix));
      this.#indexes.set(by.wordsOf, index);
    }
    return { items: index.range(words, prefix, start), remaining: 0 };
  }

  /** One page of a range, as it is today or, with an overlay, as it was. */
  page(range: Range, overlay: Overlay = new Map()): Page {
    const { prefix, start, limit } = range;
    const changed = inRange(overlay.keys(), range);
    if (changed.length === 0) {
      const items = this.#sorted.range(prefix, start, limit);
      return { items, remaining: this.#sorted.count(prefix, start) - items.length };
    }
    // As many as can be needed: every changed key may stand before those that fill the page.
    const most = limit === undefined ? undefined : limit + changed.length;
    const kept = this.#sorted.range(prefix, start, most).filter(({ key }) => !overlay.has(key));
    const past = changed.flatMap((key) => overlay.get(key) ?? []);
    const gone = changed.filter((key) => this.#sorted.get(key) !== undefined);
    const total = this.#sorted.count(prefix, start) - gone.length + past.length;
    const items = merge(kept, past)
      .slice(0, limit)
      .map((item) => ('read' in item ? item.read() : item));
    return { items, remaining: total - items.length };
  }
}

/** A sorted list and others, in any order and of other keys, as one sorted list. */
function merge(some: readonly StoredItem[], unsorted: readonly PastItem[]): (StoredItem | PastItem)[] {
  const others = unsorted.toSorted((a, b) => compareKeys(a.key, b.key));
  const merged: (StoredItem | PastItem)[] = [];
  let next = 0;
  for (const item of some) {
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

/** The item that a put made: one object for all who ask, so that what they attach to it is shared. */
export function itemOf(event: StoreEvent & { type: 'put' }): StoredItem {
  let item = itemsOfPuts.get(event);
  if (!item) {
    item = { key: event.key, value: event.value, revision: event.revision };
    itemsOfPuts.set(event, item);
  }
  return item;
}
