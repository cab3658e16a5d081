import { statSync } from 'node:fs';
import path from 'node:path';
import { inspectPages } from './check-pages.ts';
import { dataFile, pageSize } from './disk.ts';
import { conclude, type RawEntry, type Salvage } from './evidence.ts';
import { type Entry, PageError } from './page.ts';
import { PageFile } from './page-file.ts';

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
    const isSound = finding === undefined;
    const isRead = (page: number) => (isSound ? used[page] === 1 : free?.has(page) !== true);
    return conclude(() => entriesOf(file, isRead), isSound);
  } finally {
    file.close();
  }
}

function* entriesOf(file: PageFile, isRead: (page: number) => boolean): Generator<RawEntry> {
  for (let number = 2; number * file.pageSize < file.size; number += 1) {
    if (!isRead(number)) continue;
    for (const { key, value } of leafEntries(file, number)) {
      const bytes = Buffer.isBuffer(value)
        ? value
        : orNothing(() => file.overflow(value, Number.MAX_VALUE, true));
      if (bytes && !isOfFreeList(key)) yield { key, value: bytes };
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
