import { statSync } from 'node:fs';
import path from 'node:path';
import { listText, StoreDamaged } from './damage.ts';
import { type RawEntry, reconstruct, type Salvage } from './evidence.ts';
import { area, dataFile, pageSize } from './layout.ts';
import { inspectPages, maxDepth } from './lmdb-file/check-pages.ts';
import { type Entry, PageError } from './lmdb-file/page.ts';
import { PageFile } from './lmdb-file/page-file.ts';

/**
 * Returns the readable part of a damaged store. Read-only, and without LMDB. If the page tree is broken, reads every page that is not known to
 * be free, including unreachable pages.
 */
export function salvage(folder: string): Salvage {
  const name = path.join(folder, dataFile);
  if (!statSync(name, { throwIfNoEntry: false })?.isFile()) return reconstruct(() => [], false);
  const file = new PageFile(name, pageSize);
  try {
    const { finding, used, free } = inspectPages(file);
    const isRead = (page: number) => (finding === undefined ? used[page] === 1 : free?.has(page) !== true);
    const index = indexPages(file);
    return reconstruct(() => entriesOf(file, isRead, index), index !== undefined);
  } finally {
    file.close();
  }
}

/** Returns the pages of the item index; undefined if some are unreadable. */
function indexPages(file: PageFile): ReadonlySet<number> | undefined {
  const found = new Set<number>();
  const visit = (number: number, newest: number, depth: number): void => {
    if (depth > maxDepth) throw new PageError(`the tree is too deep at page ${number}`);
    const page = file.page(number, newest);
    found.add(number);
    if (page.kind === 'leaf') return;
    for (const [at, child] of page.children.entries()) {
      const first = at === 0 ? 0 : (child.key[0] ?? 0);
      const next = page.children[at + 1]?.key[0] ?? area.values;
      if (first <= area.items && next >= area.items) visit(child.page, newest, depth + 1);
    }
  };
  return orUndefined(() => {
    const { main, transaction } = file.newest();
    if (main.root !== undefined) visit(main.root, transaction, 1);
    return found;
  });
}

/** Yields the leaf entries, without index entries outside of the pages of the index, which are outdated. */
function* entriesOf(
  file: PageFile,
  isRead: (page: number) => boolean,
  index: ReadonlySet<number> | undefined,
): Generator<RawEntry> {
  for (let number = 2; number * file.pageSize < file.size; number += 1) {
    if (!isRead(number)) continue;
    for (const { key, value } of leafEntries(file, number)) {
      const isOutdated = key[0] === area.items && index?.has(number) === false;
      const bytes = Buffer.isBuffer(value)
        ? value
        : orUndefined(() => file.overflow(value, Number.MAX_VALUE, true));
      if (bytes && !isOutdated && !isOfFreeList(key)) yield { key, value: bytes };
    }
  }
}

function leafEntries(file: PageFile, number: number): Entry[] {
  const page = orUndefined(() => file.page(number, Number.MAX_VALUE));
  return page?.kind === 'leaf' ? page.entries : [];
}

/** Keys of the free list are transaction IDs as little-endian integers. Keys of the store with this length do not end in zeros. */
function isOfFreeList(key: Buffer): boolean {
  return key.length === 8 && key.readUInt16LE(6) === 0;
}

function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (caught) {
    if (caught instanceof PageError) return undefined;
    throw caught;
  }
}

/** Returns the error for users: where the store is, what is lost, and what to do. */
export function explainDamage(
  folder: string,
  { what }: StoreDamaged,
  { items, lost }: Salvage,
): StoreDamaged {
  const readable = `${items.length} of its objects can be read`;
  const known = lost.length === 0 ? '' : `, at least ${lost.length} cannot (${listText(lost)})`;
  const advice = 'Restore the folder from a backup, or recover what can be read';
  return new StoreDamaged(what, `the store in ${folder} is damaged: ${what}. ${readable}${known}. ${advice}`);
}
