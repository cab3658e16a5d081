import { type Entry, type Meta, type Overflow, PageError } from './page.ts';
import type { PageFile } from './page-file.ts';

interface Pages {
  file: PageFile;
  meta: Meta;
  /** 1 for each page in use. */
  used: Uint8Array;
}

/** Returns the free pages. Throws PageError for a page that is in use, listed twice or out of range. */
export function freePages(pages: Pages, lists: readonly Entry[]): Set<number> {
  const free = new Set<number>();
  for (const { value } of lists) {
    for (const { first, count } of blocksOf(listBytes(pages, value))) {
      if (!(first >= 2 && first + count - 1 <= pages.meta.lastPage))
        throw new PageError(`the list of free pages has page ${first}, which does not exist`);
      for (let page = first; page < first + count; page += 1) {
        if (pages.used[page] === 1 || free.has(page))
          throw new PageError(`page ${page} is listed as free and in use`);
        free.add(page);
      }
    }
  }
  return free;
}

/** Returns the entries of a list, which follow their count. Ignores the bytes after them. Throws PageError. */
function listBytes({ file, meta }: Pages, value: Buffer | Overflow): Buffer {
  const bytes = Buffer.isBuffer(value) ? value : file.overflow(value, meta.transaction, true);
  const end = bytes && bytes.length >= 8 ? 8 + 8 * Number(bytes.readBigUInt64LE()) : Number.NaN;
  if (!bytes || !(end <= bytes.length)) throw new PageError('the list of free pages has a wrong size');
  return bytes.subarray(8, end);
}

/** Yields the blocks of a list: a page number, 0 for an unused entry, or a negative page count followed by the first page. */
function* blocksOf(list: Buffer): Generator<{ first: number; count: number }> {
  for (let at = 0; at < list.length; at += 8) {
    const entry = Number(list.readBigInt64LE(at));
    if (entry > 0) yield { first: entry, count: 1 };
    if (entry >= 0) continue;
    at += 8;
    if (at >= list.length) throw new PageError('the list of free pages ends within a block');
    yield { first: Number(list.readBigInt64LE(at)), count: -entry };
  }
}
