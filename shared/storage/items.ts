import { compareKeys } from './keys.ts';
import { lowerBound, SortedKeys } from './sorted-keys.ts';
import type { StoredItem, StoreEvent } from './store.ts';

/** What of a prefix is asked for; `limit` undefined means everything. */
export interface Range {
  prefix: string;
  start: string;
  limit: number | undefined;
}

export interface Page {
  items: StoredItem[];
  remaining: number;
}

/** Keys whose state at a past revision differs from today's, with what they held then (undefined: absent). */
export type Overlay = ReadonlyMap<string, StoredItem | undefined>;

/** The current state: every key's item, and the keys in byte order. */
export class Items {
  readonly #byKey = new Map<string, StoredItem>();
  readonly #keys: SortedKeys;

  /** `sorted` must be in byte order of its keys. */
  constructor(sorted: readonly StoredItem[] = []) {
    for (const item of sorted) this.#byKey.set(item.key, item);
    this.#keys = new SortedKeys(sorted.map((item) => item.key));
  }

  get(key: string): StoredItem | undefined {
    return this.#byKey.get(key);
  }

  apply(event: StoreEvent): void {
    if (event.type === 'delete') {
      this.#byKey.delete(event.key);
      this.#keys.delete(event.key);
      return;
    }
    if (!event.previous) this.#keys.add(event.key);
    this.#byKey.set(event.key, { key: event.key, value: event.value, revision: event.revision });
  }

  /** One page of a range, as it is today or, with an overlay, as it was. */
  page(range: Range, overlay: Overlay = new Map()): Page {
    const items: StoredItem[] = [];
    for (const item of this.#merged(range, overlay)) {
      if (items.length === range.limit) break;
      items.push(item);
    }
    return { items, remaining: this.#count(range, overlay) - items.length };
  }

  #count(range: Range, overlay: Overlay): number {
    let count = this.#keys.count(range.prefix, range.start);
    for (const key of inRange(overlay.keys(), range)) {
      if (this.#byKey.has(key)) count -= 1;
      if (overlay.get(key)) count += 1;
    }
    return count;
  }

  /** Today's items without the overlaid keys, merged with what these held. */
  *#merged(range: Range, overlay: Overlay): Generator<StoredItem> {
    const past = inRange(overlay.keys(), range).flatMap((key) => overlay.get(key) ?? []);
    past.sort((a, b) => compareKeys(a.key, b.key));
    let next = 0;
    for (const key of this.#keys.range(range.prefix, range.start)) {
      if (overlay.has(key)) continue;
      for (let item = past[next]; item && compareKeys(item.key, key) < 0; item = past[next]) {
        yield item;
        next += 1;
      }
      const item = this.#byKey.get(key);
      if (item) yield item;
    }
    yield* past.slice(next);
  }
}

function inRange(keys: Iterable<string>, range: Range): string[] {
  const from = lowerBound(range.prefix, range.start);
  return Array.from(keys).filter((key) => key.startsWith(range.prefix) && compareKeys(key, from) >= 0);
}
