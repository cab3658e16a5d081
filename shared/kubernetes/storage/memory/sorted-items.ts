import { compareKeys } from '../interface/keys.ts';
import type { StoredItem } from '../interface/store.ts';

interface Position {
  block: number;
  index: number;
}

const blockSize = 512;

/**
 * Items in byte order of their keys, in blocks of at most 512: an insertion moves a few hundred references regardless of the number of
 * items, and ranges are counted and copied per block.
 */
export class SortedItems {
  readonly #blocks: StoredItem[][] = [];

  /** @param sorted items in byte order of their keys, without duplicates */
  constructor(sorted: Iterable<StoredItem> = []) {
    let block: StoredItem[] = [];
    for (const item of sorted) {
      if (block.length === 0) this.#blocks.push(block);
      block.push(item);
      // Half full, so that the first insertions do not split every block.
      if (block.length === blockSize / 2) block = [];
    }
  }

  get(key: string): StoredItem | undefined {
    const { block, index } = this.#find((other) => compareKeys(other, key) < 0);
    const found = this.#blocks[block]?.[index];
    return found?.key === key ? found : undefined;
  }

  /** Adds or replaces an item. */
  set(item: StoredItem): void {
    const { block: at, index } = this.#find((other) => compareKeys(other, item.key) < 0);
    const block = this.#blocks[at] ?? this.#blocks.at(-1);
    if (!block) {
      this.#blocks.push([item]);
      return;
    }
    if (block !== this.#blocks[at]) block.push(item);
    else block.splice(index, block[index]?.key === item.key ? 1 : 0, item);
    if (block.length > blockSize) this.#split(block);
  }

  delete(key: string): void {
    const { block: at, index } = this.#find((other) => compareKeys(other, key) < 0);
    const block = this.#blocks[at];
    if (block?.[index]?.key !== key) return;
    block.splice(index, 1);
    if (block.length === 0) this.#blocks.splice(at, 1);
  }

  /** Returns the number of keys that have `prefix` and are >= `start`. */
  count(prefix: string, start = ''): number {
    const { from, to } = this.#bounds(prefix, start);
    let count = to.index - from.index;
    for (let at = from.block; at < to.block; at += 1) count += this.#blocks[at]?.length ?? 0;
    for (let at = to.block; at < from.block; at += 1) count -= this.#blocks[at]?.length ?? 0;
    return Math.max(0, count);
  }

  /** Returns at most `limit` items whose keys have `prefix` and are >= `start`. */
  range(prefix: string, start = '', limit = Number.POSITIVE_INFINITY): StoredItem[] {
    const { from, to } = this.#bounds(prefix, start);
    const parts: StoredItem[][] = [];
    let room = limit;
    for (let at = from.block; at <= to.block && room > 0; at += 1) {
      const begin = at === from.block ? from.index : 0;
      const end = at === to.block ? to.index : undefined;
      const part = this.#blocks[at]?.slice(begin, end) ?? [];
      parts.push(part.length > room ? part.slice(0, room) : part);
      room -= part.length;
    }
    return parts.flat();
  }

  #split(block: StoredItem[]): void {
    const upper = block.splice(block.length / 2);
    this.#blocks.splice(this.#blocks.indexOf(block) + 1, 0, upper);
  }

  /** Returns the first position of a range, and the first position after it. */
  #bounds(prefix: string, start: string): { from: Position; to: Position } {
    const lower = lowerBound(prefix, start);
    return {
      from: this.#find((key) => compareKeys(key, lower) < 0),
      to: this.#find((key) => compareKeys(key, prefix) < 0 || key.startsWith(prefix)),
    };
  }

  /** Returns the first position whose key is not `before`; after the last block if there is none. */
  #find(before: (key: string) => boolean): Position {
    const block = partition(this.#blocks, (items) => before(items.at(-1)?.key ?? ''));
    return { block, index: partition(this.#blocks[block] ?? [], (item) => before(item.key)) };
  }
}

/** Returns the smallest possible key of a range. */
export function lowerBound(prefix: string, start: string): string {
  return compareKeys(start, prefix) > 0 ? start : prefix;
}

/** Binary search: returns the number of leading elements that are `before`. */
function partition<T>(sorted: readonly T[], before: (element: T) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const element = sorted[middle];
    if (element !== undefined && before(element)) low = middle + 1;
    else high = middle;
  }
  return low;
}
