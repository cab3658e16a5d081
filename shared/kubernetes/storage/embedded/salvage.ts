import { statSync } from 'node:fs';
import path from 'node:path';
import { listText, StoreDamaged } from './damage.ts';
import { conclude, type RawEntry, type Salvage } from './evidence.ts';
import { area, dataFile, pageSize } from './layout.ts';
import { deepest, inspectPages } from './lmdb-file/check-pages.ts';
import { type Entry, PageError } from './lmdb-file/page.ts';
import { PageFile } from './lmdb-file/page-file.ts';

/**
 * Reads what can be read of a store whose data is damaged, without LMDB and without changing anything. Where the tree of pages is broken, each page that
 * is not known to be free counts: also those that nothing leads to any more.
 */
export function salvage(folder: string): Salvage {
  const name = path.join(folder, dataFile);
  if (!statSync(name, { throwIfNoEntry: false })?.isFile()) return conclude(() => [], false);
  const file = new PageFile(name, pageSize);
  try {
    const { finding, used, free } = inspectPages(file);
    const isRead = (page: number) => (finding === undefined ? used[page] === 1 : free?.has(page) !== true);
    const index = indexPages(file);
    return conclude(() => entriesOf(file, isRead, index), index !== undefined);
  } finally {
    file.close();
  }
}

/** The pages that have the index of the items; undefined: some of them cannot be read. */
function indexPages(file: PageFile): ReadonlySet<number> | undefined {
  const found = new Set<number>();
  const visit = (number: number, newest: number, depth: number): void => {
    if (depth > deepest) throw new PageError(`the tree is too deep at page ${number}`);
    const page = file.page(number, newest);
    found.add(number);
    if (page.kind === 'leaf') return;
    for (const [at, child] of page.children.entries()) {
      const first = at === 0 ? 0 : (child.key[0] ?? 0);
      const next = page.children[at + 1]?.key[0] ?? area.values;
      if (first <= area.items && next >= area.items) visit(child.page, newest, depth + 1);
    }
  };
  return orNothing(() => {
    const { main, transaction } = file.newest();
    if (main.root !== undefined) visit(main.root, transaction, 1);
    return found;
  });
}

/** Of the index, nothing counts that is not in its pages. */
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
        : orNothing(() => file.overflow(value, Number.MAX_VALUE, true));
      if (bytes && !isOutdated && !isOfFreeList(key)) yield { key, value: bytes };
    }
  }
}

function leafEntries(file: PageFile, number: number): Entry[] {
  const page = orNothing(() => file.page(number, Number.MAX_VALUE));
  return page?.kind === 'leaf' ? page.entries : [];
}

/** Transactions as little-endian integers. Keys of ours that are as long do not end in zeros. */
function isOfFreeList(key: Buffer): boolean {
  return key.length === 8 && key.readUInt16LE(6) === 0;
}

function orNothing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (caught) {
    if (caught instanceof PageError) return undefined;
    throw caught;
  }
}

/** The error with what a person needs to decide: where it is, what is lost, and how to go on. */
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
