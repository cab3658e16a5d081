import { yieldToEventLoop } from '#shared/base/async';
import { compareKeys } from '../interface/keys.ts';
import type { Finding, IndexedBy, StoredItem, StoreEvent } from '../interface/store.ts';
import { ItemIndex } from './item-index.ts';
import { lowerBound, SortedItems } from './sorted-items.ts';

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

/** Items to index in one turn: each is parsed. */
const indexedAtOnce = 200;

/** The current state: every key's item, in byte order of the keys. */
export class Items {
  readonly #sorted: SortedItems;
  readonly #indexes = new Map<IndexedBy['wordsOf'], ItemIndex>();
  /** Of the indexes that are not complete yet. */
  readonly #making = new Map<IndexedBy['wordsOf'], Promise<unknown>>();

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

  /**
   * The items of a range, of all pages, that are found by one of the words. The first question makes the index; as long as `indexing` says
   * that it is not there, all items of the range are returned.
   */
  found({ by, words }: Finding, { prefix, start }: Range): Page {
    const index = this.#indexes.get(by.wordsOf) ?? this.#makeIndex(by);
    if (!index.isComplete) return this.page({ prefix, start, limit: undefined });
    return { items: index.range(words, prefix, start), remaining: 0 };
  }

  /** Resolves when the index of a large collection is there, which other work has its turns before; undefined: it is, or is made at once. */
  indexing(by: IndexedBy): Promise<unknown> | undefined {
    if (!this.#indexes.has(by.wordsOf)) this.#makeIndex(by);
    return this.#making.get(by.wordsOf);
  }

  #makeIndex(by: IndexedBy): ItemIndex {
    const { wordsOf, prefix } = by;
    const index = new ItemIndex(by);
    this.#indexes.set(wordsOf, index);
    const next = this.#fill(index, prefix, prefix);
    if (next === undefined) return index;
    const rest = this.#fillRest(index, prefix, next)
      // What has failed is begun anew by the next question.
      .catch(() => this.#indexes.delete(wordsOf))
      .finally(() => this.#making.delete(wordsOf));
    this.#making.set(wordsOf, rest);
    return index;
  }

  async #fillRest(index: ItemIndex, prefix: string, from: string): Promise<void> {
    for (let start: string | undefined = from; start !== undefined; ) {
      await yieldToEventLoop();
      start = this.#fill(index, prefix, start);
    }
  }

  /** Adds some items as they are now; what is written meanwhile, `apply` adds. Returns where to go on; undefined: the index is complete. */
  #fill(index: ItemIndex, prefix: string, start: string): string | undefined {
    const items = this.#sorted.range(prefix, start, indexedAtOnce);
    for (const item of items) index.put(item);
    const last = items.at(-1);
    if (last && items.length === indexedAtOnce) return `${last.key}\0`;
    index.isComplete = true;
    return undefined;
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
