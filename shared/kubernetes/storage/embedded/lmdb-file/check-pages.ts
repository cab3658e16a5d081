import { freePages } from './free-pages.ts';
import { type Entry, type Meta, type Overflow, type Page, PageError, type Tree } from './page.ts';
import type { PageFile } from './page-file.ts';

/** What LMDB makes of its two trees. Other flags would have it read pages in another way. */
const treeFlags = { free: 8, main: 0 };
/** The most levels of a tree, as of LMDB's cursors. */
export const deepest = 32;

/** What was found out about a file. */
export interface Inspection {
  /** What is wrong, in words for people; undefined: LMDB can follow every number in the file. */
  finding: string | undefined;
  /** 1 for each page that is in use; complete where nothing is wrong. */
  used: Uint8Array;
  /** Pages that are not in use; undefined: that cannot be read. */
  free: ReadonlySet<number> | undefined;
}

/** Reads every page that the newest state of an LMDB file uses. The bytes of the entries' keys and values may still be wrong. */
export function inspectPages(file: PageFile): Inspection {
  const used = new Uint8Array(Math.ceil(file.size / file.pageSize));
  let free: ReadonlySet<number> | undefined;
  try {
    const meta = file.newest();
    if (meta.free.flags !== treeFlags.free || meta.main.flags !== treeFlags.main)
      throw new PageError('the newest meta page has unknown flags');
    const reading = { file, meta, used, free: new Set<number>() };
    const lists = readTree({ ...reading, tree: meta.free, compare: compareIntegers });
    free = freePages({ file, meta, used }, lists);
    // Pages beyond the end of the file were never written: all of them are free.
    if (meta.lastPage >= used.length + free.size) throw new PageError(`there is no page ${meta.lastPage}`);
    readTree({ ...reading, free, tree: meta.main, compare: Buffer.compare });
    return { finding: undefined, used, free };
  } catch (caught) {
    if (caught instanceof PageError) return { finding: caught.message, used, free };
    throw caught;
  }
}

type Compare = (one: Buffer, other: Buffer) => number;

interface Reading {
  file: PageFile;
  meta: Meta;
  used: Uint8Array;
  /** Pages that must not be in use. */
  free: ReadonlySet<number>;
  tree: Tree;
  compare: Compare;
}

/** A subtree: its keys are `from` and greater, and less than `to`. */
interface Subtree {
  page: number;
  depth: number;
  from: Buffer | undefined;
  to: Buffer | undefined;
}

/** Returns the entries of the free tree, and none of the main tree, which may be large. Throws PageError. */
function readTree(reading: Reading): Entry[] {
  const { file, meta, tree, used } = reading;
  const found = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 };
  const kept: Entry[] = [];
  const visit = (subtree: Subtree): void => {
    use(reading, subtree.page, 1);
    const page = file.page(subtree.page, meta.transaction);
    checkPage(reading, subtree, page);
    if (page.kind === 'branch') {
      found.branchPages += 1;
      for (const child of childrenOf(page, subtree)) visit(child);
      return;
    }
    found.leafPages += 1;
    found.entries += page.entries.length;
    for (const { value } of page.entries)
      if (!Buffer.isBuffer(value)) found.overflowPages += checkOverflow(reading, value);
    if (tree === meta.free) kept.push(...page.entries);
  };
  if (tree.root !== undefined) visit({ page: tree.root, depth: 1, from: undefined, to: undefined });
  if (found.entries !== tree.entries)
    throw new PageError(`the file has ${found.entries} entries and should have ${tree.entries}`);
  const pages = found.branchPages + found.leafPages + found.overflowPages;
  if (pages !== tree.branchPages + tree.leafPages + tree.overflowPages)
    throw new PageError(`${pages} of its ${used.length} pages are in use, which is a wrong count`);
  return kept;
}

/** The first key of a branch stands for everything below the second. */
function childrenOf({ children }: Page & { kind: 'branch' }, { depth, from, to }: Subtree): Subtree[] {
  return children.map(({ key, page }, at) => ({
    page,
    depth: depth + 1,
    from: at === 0 ? from : key,
    to: children[at + 1]?.key ?? to,
  }));
}

function checkPage(
  { meta, tree, compare }: Reading,
  { page: number, depth, from, to }: Subtree,
  page: Page,
): void {
  const isLeaf = page.kind === 'leaf';
  if (depth > deepest || isLeaf !== (depth === tree.depth))
    throw new PageError(`page ${number} has a wrong depth`);
  const keys = (isLeaf ? page.entries : page.children.slice(1)).map(({ key }) => key);
  if (keys.length === 0 && (isLeaf || tree === meta.main)) throw new PageError(`page ${number} is empty`);
  let before = from;
  for (const [at, key] of keys.entries()) {
    const order = before === undefined ? 1 : compare(key, before);
    if (order < 0 || (order === 0 && at > 0)) throw new PageError(`page ${number} has keys in a wrong order`);
    before = key;
  }
  if (to !== undefined && before !== undefined && compare(before, to) >= 0)
    throw new PageError(`page ${number} has keys that belong behind it`);
}

function checkOverflow(reading: Reading, value: Overflow): number {
  use(reading, value.page, value.pages);
  reading.file.overflow(value, reading.meta.transaction, false);
  return value.pages;
}

function use({ used, free, meta }: Reading, number: number, pages: number): void {
  if (!(number >= 2 && pages >= 1 && number + pages - 1 <= meta.lastPage))
    throw new PageError(`there is no page ${number}`);
  if (number + pages > used.length) throw new PageError(`page ${number} is beyond the end of the file`);
  for (let page = number; page < number + pages; page += 1) {
    if (used[page] === 1) throw new PageError(`page ${page} is used twice`);
    if (free.has(page)) throw new PageError(`page ${page} is listed as free and in use`);
    used[page] = 1;
  }
}

/** Integers of eight bytes, in the order of the machine. */
function compareIntegers(one: Buffer, other: Buffer): number {
  if (one.length !== 8 || other.length !== 8) throw new PageError('the list of free pages has a wrong key');
  const difference = one.readBigUInt64LE() - other.readBigUInt64LE();
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}
