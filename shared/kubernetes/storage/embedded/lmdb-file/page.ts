/**
 * A parser of LMDB pages, as written by lmdb-js 3 on 64-bit little-endian machines (mdb.c: MDB_page_header, MDB_meta, MDB_node). Validates
 * every reference, because LMDB crashes on invalid ones.
 */
export const headBytes = 24;
export const metaBytes = 168;
const nodeHeadBytes = 8;
const magic = 0xbeefc0de;
const dataVersion = 2;
const pageFlags = { branch: 1, leaf: 2, overflow: 4, meta: 8 };
/** Flag of a node whose value is in overflow pages. */
const bigData = 1;
const bigDataBytes = 24;

/** Describes why a page is invalid. */
export class PageError extends Error {}

/** A B+ tree of pages. */
export interface Tree {
  flags: number;
  depth: number;
  branchPages: number;
  leafPages: number;
  overflowPages: number;
  entries: number;
  /** Undefined: the tree is empty. */
  root: number | undefined;
}

/** The state of the file after a transaction. */
export interface Meta {
  pageSize: number;
  lastPage: number;
  transaction: number;
  /** Lists the free pages. */
  free: Tree;
  main: Tree;
}

/** A value in overflow pages. */
export interface Overflow {
  page: number;
  pages: number;
  bytes: number;
}

export interface Entry {
  key: Buffer;
  value: Buffer | Overflow;
}

export type Page =
  | { kind: 'branch'; children: { key: Buffer; page: number }[] }
  | { kind: 'leaf'; entries: Entry[] };

/** Parses a meta page. Throws PageError. */
export function parseMeta(bytes: Buffer, index: number): Meta {
  if (bytes.readUInt32LE(24) !== magic || bytes.readUInt16LE(18) !== pageFlags.meta)
    throw new PageError(`meta page ${index} is not an LMDB meta page`);
  if (bytes.readUInt16LE(28) !== dataVersion)
    throw new PageError(`meta page ${index} is of another version of LMDB`);
  const meta = {
    pageSize: bytes.readUInt32LE(48),
    lastPage: numberAt(bytes, 144),
    transaction: numberAt(bytes, 152),
    free: treeAt(bytes, 48),
    main: treeAt(bytes, 96),
  };
  // Transaction N writes meta page N % 2; in a new file both are 0.
  if (meta.transaction !== 0 && meta.transaction % 2 !== index)
    throw new PageError(`meta page ${index} has a wrong transaction`);
  return meta;
}

function treeAt(bytes: Buffer, at: number): Tree {
  const root = numberAt(bytes, at + 40);
  return {
    flags: bytes.readUInt16LE(at + 4),
    depth: bytes.readUInt16LE(at + 6),
    branchPages: numberAt(bytes, at + 8),
    leafPages: numberAt(bytes, at + 16),
    overflowPages: numberAt(bytes, at + 24),
    entries: numberAt(bytes, at + 32),
    root: root === 2 ** 64 ? undefined : root,
  };
}

/** Throws PageError unless the bytes are the header of page `number`, written by a transaction up to `newest`. */
export function checkHead(bytes: Buffer, number: number, newest: number): void {
  if (numberAt(bytes, 0) !== number || numberAt(bytes, 8) > newest)
    throw new PageError(`page ${number} is not the one that was written there`);
}

/** Returns the number of overflow pages of a value from the header of its first page. Throws PageError. */
export function overflowPages(bytes: Buffer, number: number): number {
  if (bytes.readUInt16LE(18) !== pageFlags.overflow)
    throw new PageError(`page ${number} does not begin a value`);
  return bytes.readUInt32LE(20);
}

/** Parses a branch or leaf page. Throws PageError. */
export function parsePage(bytes: Buffer, number: number): Page {
  const flags = bytes.readUInt16LE(18);
  if (flags !== pageFlags.branch && flags !== pageFlags.leaf)
    throw new PageError(`page ${number} is neither a branch nor a leaf`);
  const nodes = parseNodes(bytes, number, flags === pageFlags.leaf);
  if (flags === pageFlags.leaf) return { kind: 'leaf', entries: nodes.map((node) => entryOf(node, number)) };
  const children = nodes.map(({ key, low, high }) => ({ key, page: low + high * 2 ** 32 }));
  return { kind: 'branch', children };
}

interface Node {
  start: number;
  end: number;
  key: Buffer;
  /** Leaf: the size of the value; branch: the lower 32 bits of the child's page number. */
  low: number;
  /** Leaf: flags; branch: the upper 16 bits. */
  high: number;
  data: Buffer;
}

/** Returns the nodes of a page in order. They must fill the page from the upper bound of the free space to its end. */
function parseNodes(bytes: Buffer, number: number, isLeaf: boolean): Node[] {
  const lower = bytes.readUInt16LE(20);
  const upper = bytes.readUInt16LE(22) + headBytes;
  if (lower % 2 !== 0 || lower + headBytes > upper || upper > bytes.length)
    throw new PageError(`page ${number} has wrong bounds`);
  const nodes: Node[] = [];
  for (let at = headBytes; at < headBytes + lower; at += 2) {
    const node = parseNode(bytes, bytes.readUInt16LE(at) + headBytes, isLeaf);
    if (!node) throw new PageError(`page ${number} has a node outside of its bounds`);
    nodes.push(node);
  }
  let end = upper;
  for (const node of nodes.toSorted((a, b) => a.start - b.start)) {
    if (node.start !== end) throw new PageError(`page ${number} has nodes that overlap or leave a gap`);
    end = node.end;
  }
  if (end !== bytes.length) throw new PageError(`page ${number} has nodes that do not fill it`);
  return nodes;
}

function parseNode(bytes: Buffer, start: number, isLeaf: boolean): Node | undefined {
  const keyAt = start + nodeHeadBytes;
  if (keyAt > bytes.length) return undefined;
  const low = bytes.readUInt32LE(start);
  const high = bytes.readUInt16LE(start + 4);
  const dataAt = keyAt + bytes.readUInt16LE(start + 6);
  const dataBytes = !isLeaf ? 0 : high === bigData ? bigDataBytes : low;
  const end = dataAt + dataBytes + ((dataAt + dataBytes - start) % 2);
  if (end > bytes.length) return undefined;
  const key = bytes.subarray(keyAt, dataAt);
  return { start, end, key, low, high, data: bytes.subarray(dataAt, dataAt + dataBytes) };
}

function entryOf({ key, low, high, data }: Node, number: number): Entry {
  if (high === 0) return { key, value: data };
  if (high !== bigData) throw new PageError(`page ${number} has a node with unknown flags`);
  return { key, value: { page: numberAt(data, 0), pages: numberAt(data, 16), bytes: low } };
}

/** Exact up to 2^53. Larger values exceed every bound that they are compared with. */
function numberAt(bytes: Buffer, at: number): number {
  return Number(bytes.readBigUInt64LE(at));
}
