import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RootDatabase } from 'lmdb';
import { ArcError } from '#shared/errors';
import { firstRevision } from '../history.ts';
import type { StoredItem, StoreEvent } from '../store.ts';
import { decodeItem, decodeUndo, encodeItem, encodeUndo, type UndoRecord } from './record.ts';

/** The state that a store finds when it opens. */
export interface Loaded {
  revision: number;
  /** In byte order of their keys. */
  items: StoredItem[];
  /** In revision order, without a gap, up to `revision`. */
  history: UndoRecord[];
}

/** The writes of one transaction. */
export interface Commit {
  events: readonly StoreEvent[];
  /** History records before this revision are removed. */
  firstKept: number;
}

/** Where the embedded store keeps its data; a commit that resolved is on disk, one that rejected may or may not be. */
export interface Disk {
  load(): Loaded;
  commit(commit: Commit): Promise<void>;
  /** The newest revision on disk. */
  revision(): number;
  close(): Promise<void>;
}

export type Database = RootDatabase<Buffer, Buffer>;

/** The folders of one keyspace, distinguished by the first byte of the key. */
const area = { meta: 1, history: 2, items: 3, end: 4 };

const revisionKey = metaKey('revision');
const formatKey = metaKey('format');
const format = '1';

/**
 * Addresses set aside for the file, no memory. Where lmdb has to find more as the file grows, it maps the file anew and keeps the maps that
 * it had, and the pages of each count as memory of this process: twice the file and more. A file that grows beyond this is mapped anew, too.
 */
const mapSize = 8 * 1024 ** 3;

/**
 * Opens lmdb in `folder`. Without overlapping sync a commit is flushed before its promise resolves. Without event turn
 * batching, which batch() does not need, a commit that fails leaves no rejected promise that nobody can catch. One
 * keyspace instead of named databases, because a batch is one transaction only within one database. lmdb is a native addon
 * that no bundle carries, so it is loaded here, for those who use it.
 */
export async function openDatabase(folder: string): Promise<Database> {
  const { open } = await import('lmdb').catch((caught: unknown) => {
    const message =
      'the embedded store needs the package lmdb, which is not installed here: use etcd instead';
    throw new ArcError('Invalid', message, { cause: caught });
  });
  const encodings = { encoding: 'binary', keyEncoding: 'binary' } as const;
  const commits = { overlappingSync: false, eventTurnBatching: false };
  return open<Buffer, Buffer>({ path: folder, noSubdir: false, mapSize, ...encodings, ...commits });
}

export function metaKey(name: string): Buffer {
  return Buffer.concat([Buffer.of(area.meta), Buffer.from(name)]);
}

/** The Disk over an lmdb database that this process owns. */
export function createDisk(database: Database): Disk {
  let oldest: number | undefined;

  function revision(): number {
    const stored = database.get(revisionKey);
    return stored ? Number(stored.toString()) : firstRevision;
  }

  function load(): Loaded {
    checkFormat(database);
    const history: UndoRecord[] = [];
    for (const { key, value } of entries(database, area.history)) {
      history.push(decodeUndo(Number(key.readBigUInt64BE(1)), value));
    }
    const items: StoredItem[] = [];
    for (const { key, value } of entries(database, area.items)) {
      items.push(decodeItem(key.toString('utf8', 1), value));
    }
    oldest = history[0]?.revision;
    return { revision: revision(), items, history };
  }

  async function commit({ events, firstKept }: Commit): Promise<void> {
    const from = oldest ?? events[0]?.revision ?? firstKept;
    const written = database.batch(() => {
      for (let gone = from; gone < firstKept; gone += 1) void database.remove(historyKey(gone));
      for (const event of events) putEvent(database, event);
      const newest = events.at(-1);
      if (newest) void database.put(revisionKey, Buffer.from(String(newest.revision)));
      void database.put(formatKey, Buffer.from(format));
    });
    await written.catch(async (caught: unknown) => {
      throw await causeOf(caught);
    });
    oldest = Math.max(oldest ?? 0, from, firstKept);
  }

  return { load, commit, revision, close: () => database.close() };
}

/** The promise of the batch speaks for its single writes. */
function putEvent(database: Database, event: StoreEvent): void {
  void database.put(historyKey(event.revision), encodeUndo(event));
  const key = itemKey(event.key);
  if (event.type === 'put') void database.put(key, encodeItem(event));
  else void database.remove(key);
}

/**
 * lmdb's error of a failed commit carries the cause as a promise, which rejects in the same turn or never; left alone
 * it would end the process as an unhandled rejection.
 */
async function causeOf(reason: unknown): Promise<unknown> {
  if (!(reason instanceof Error) || !('commitError' in reason)) return reason;
  const cause = Promise.resolve(reason.commitError).catch((caught: unknown) => caught);
  return (await Promise.race([cause, nextTurn(undefined)])) ?? reason;
}

function checkFormat(database: Database): void {
  const found = database.get(formatKey)?.toString() ?? format;
  if (found === format) return;
  const message = `the store has format ${found}, this version reads format ${format}: use the version that wrote it`;
  throw new ArcError('InternalError', message);
}

function entries(database: Database, of: number) {
  return database.getRange({ start: Buffer.of(of), end: Buffer.of(of + 1) });
}

function historyKey(revision: number): Buffer {
  const key = Buffer.alloc(9, area.history);
  key.writeBigUInt64BE(BigInt(revision), 1);
  return key;
}

function itemKey(key: string): Buffer {
  return Buffer.concat([Buffer.of(area.items), Buffer.from(key)]);
}
