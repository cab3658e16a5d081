import { freePages } from './free-pages.ts';
import { type Entry, type Meta, type Overflow, type Page, PageError, type Tree } from './page.ts';
import type { PageFile } from './page-file.ts';

/** The flags of the two trees. With other flags, LMDB would interpret pages differently. */
const treeFlags = { free: 8, main: 0 };
/** Maximum depth of a tree, as in LMDB's cursors. */
export const maxDepth = 32;

/** The result of the inspection of a file. */
export interface Inspection {
  /** A human-readable description of the damage; undefined if every page reference is valid. */
  finding: string | undefined;
  /** 1 for each page in use; complete if there is no damage. */
  used: Uint8Array;
  /** Free pages; undefined if unreadable. */
  free: ReadonlySet<number> | undefined;
}

/** Checks every page of the newest state of an LMDB file, but not the bytes of keys and values. */
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
    // Pages beyond the end of the file were never written and must be free.
    if (meta.lastPage >= used.length + free.size) throw new PageError(`there is no page ${meta.lastPage}`);
    readTree({ ...reading, free, tree: meta.main, compare: Buffer.compare });
    return { finding: undefined, used, free };
  } catch (caught) {
    if (caught instanceof PageError) return { finding: caught.message, used, free };
    throw caught;
  }
}

type Compare = (a: Buffer, b: Buffer) => number;

interface Reading {
  file: PageFile;
  meta: Meta;
  used: Uint8Array;
  /** Free pages, which must not be in use. */
  free: ReadonlySet<number>;
  tree: Tree;
  compare: Compare;
}

/** A subtree with keys >= `from` and < `to`. */
interface Subtree {
  page: number;
  depth: number;
  from: Buffer | undefined;
  to: Buffer | undefined;
}

/** Checks a tree. Returns the entries of the free tree, but not those of the main tree, which may be large. Throws PageError. */
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

/** Returns the children of a branch. Its first key is ignored: the first child contains all keys below the second key. */
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
  if (depth > maxDepth || isLeaf !== (depth === tree.depth))
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
    throw new PageError(`page ${number} has keys that belong after it`);
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

/** Compares 8-byte little-endian integers. */
function compareIntegers(a: Buffer, b: Buffer): number {
  if (a.length !== 8 || b.length !== 8) throw new PageError('the list of free pages has a wrong key');
  const difference = a.readBigUInt64LE() - b.readBigUInt64LE();
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}
