import { compareKeys } from './keys.ts';

interface Position {
  block: number;
  index: number;
}

const blockSize = 512;

/**
 * A sorted set of keys in blocks of at most 512, so that adding one moves a few hundred references however many
 * keys there are, and a range is counted without walking it.
 */
export class SortedKeys {
  readonly #blocks: string[][] = [];

  /** `sorted` must already be in byte order and without repeats. */
  constructor(sorted: Iterable<string> = []) {
    let block: string[] = [];
    for (const key of sorted) {
      if (block.length === 0) this.#blocks.push(block);
      block.push(key);
      // Half full, so that the first additions do not split every block.
      if (block.length === blockSize / 2) block = [];
    }
  }

  /** Adding a key that is there changes nothing. */
  add(key: string): void {
    const { block: at, index } = this.#find((other) => compareKeys(other, key) < 0);
    const block = this.#blocks[at] ?? this.#blocks.at(-1);
    if (!block) {
      this.#blocks.push([key]);
      return;
    }
    if (block !== this.#blocks[at]) block.push(key);
    else if (block[index] === key) return;
    else block.splice(index, 0, key);
    if (block.length > blockSize) this.#split(block);
  }

  delete(key: string): void {
    const { block: at, index } = this.#find((other) => compareKeys(other, key) < 0);
    const block = this.#blocks[at];
    if (block?.[index] !== key) return;
    block.splice(index, 1);
    if (block.length === 0) this.#blocks.splice(at, 1);
  }

  /** How many keys begin with `prefix` and are >= `start`. */
  count(prefix: string, start = ''): number {
    const from = this.#find((key) => compareKeys(key, lowerBound(prefix, start)) < 0);
    const to = this.#find((key) => compareKeys(key, prefix) < 0 || key.startsWith(prefix));
    let count = to.index - from.index;
    for (let at = from.block; at < to.block; at += 1) count += this.#blocks[at]?.length ?? 0;
    for (let at = to.block; at < from.block; at += 1) count -= this.#blocks[at]?.length ?? 0;
    return Math.max(0, count);
  }

  /** The keys that begin with `prefix` and are >= `start`, in byte order. */
  *range(prefix: string, start = ''): Generator<string> {
    const from = this.#find((key) => compareKeys(key, lowerBound(prefix, start)) < 0);
    for (let at = from.block; at < this.#blocks.length; at += 1) {
      const block = this.#blocks[at] ?? [];
      for (let index = at === from.block ? from.index : 0; index < block.length; index += 1) {
        const key = block[index];
        if (key === undefined || !key.startsWith(prefix)) return;
        yield key;
      }
    }
  }

  #split(block: string[]): void {
    const upper = block.splice(block.length / 2);
    this.#blocks.splice(this.#blocks.indexOf(block) + 1, 0, upper);
  }

  /** The first position whose key is not `before` any more; past the last block when all are. */
  #find(before: (key: string) => boolean): Position {
    const block = partition(this.#blocks, (keys) => before(keys.at(-1) ?? ''));
    return { block, index: partition(this.#blocks[block] ?? [], before) };
  }
}

/** The smallest key a range can hold. */
export function lowerBound(prefix: string, start: string): string {
  return compareKeys(start, prefix) > 0 ? start : prefix;
}

/** Binary search: how many leading elements are `before`. */
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
