import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { PutOptions, RootDatabase } from 'lmdb';
import { ArcError } from '#shared/base/errors';
import type { StoredItem, StoreEvent } from '../interface/store.ts';
import { type EventRecord, firstRevision, recordOf } from '../memory/history.ts';
import { corrupt, listText } from './damage.ts';
import { area, format, formatKey, idKey, pageSize, revisionKey, revisionKeyOf } from './layout.ts';
import {
  decodeRecord,
  decodeText,
  decodeValue,
  encodeRecord,
  encodeRevision,
  encodeText,
  encodeValue,
} from './record.ts';
import type { Sentinel } from './sentinel.ts';

/** The state loaded on open. */
export interface Loaded {
  revision: number;
  /** In byte order of their keys. */
  items: StoredItem[];
  /** In revision order, without gaps, up to `revision`. */
  history: EventRecord[];
}

/** The content of a transaction. */
export interface Commit {
  events: readonly StoreEvent[];
  /** History records before this revision are removed. */
  firstKept: number;
}

/** The persistence of the embedded store. A resolved commit is on disk; a rejected one may or may not be. */
export interface Disk {
  load(): Loaded;
  commit(commit: Commit): Promise<void>;
  /** Returns a copy of the value written at a revision that an item or the history references. */
  valueAt(revision: number, key: string): Uint8Array;
  /** The newest revision on disk. */
  revision(): number;
  close(): Promise<void>;
}

/** Adds the options of `put`, which the types of lmdb lack. */
export type Database = RootDatabase<Buffer, Buffer> & {
  put(key: Buffer, value: Buffer, options: PutOptions): Promise<boolean>;
};

/**
 * Reserved address space, not memory. If the file outgrows its map, LMDB creates a new map and keeps the old ones, and the pages of each
 * count as memory of the process: more than twice the size of the file.
 */
const mapSize = 8 * 1024 ** 3;

/**
 * Opens LMDB in `folder`. Without overlapping sync, a commit is flushed before its promise resolves. Without event turn batching, which
 * batch() does not need, a failed commit leaves no unhandled rejection. Uses one keyspace instead of named databases, because a batch is
 * a transaction only within one database. Loads lmdb lazily, because it is a native addon that bundles do not contain.
 */
export async function openDatabase(folder: string): Promise<Database> {
  const { open } = await import('lmdb').catch((caught: unknown) => {
    const message =
      'the embedded store needs the package lmdb, which is not installed here: use etcd instead';
    throw new ArcError('Invalid', message, { cause: caught });
  });
  const encodings = { encoding: 'binary', keyEncoding: 'binary' } as const;
  const commits = { overlappingSync: false, eventTurnBatching: false };
  const file = { path: folder, noSubdir: false, mapSize, pageSize };
  return open<Buffer, Buffer>({ ...file, ...encodings, ...commits }) as Database;
}

/** Returns a Disk for a database that this process owns. @param sentinel of the same store */
export function createDisk(database: Database, sentinel: Sentinel): Disk {
  let oldest: number | undefined;

  function revision(): number {
    const text = readText(database, revisionKey, 'the newest revision');
    return text === undefined ? firstRevision : Number(text);
  }

  function load(): Loaded {
    checkFormat(database);
    const history: EventRecord[] = [];
    for (const { key, value } of entries(database, area.history)) {
      history.push(decodeRecord(Number(key.readBigUInt64BE(1)), value));
    }
    const items: StoredItem[] = [];
    const unreadable: string[] = [];
    for (const { key: bytes, value } of entries(database, area.items)) {
      const key = bytes.toString('utf8', 1);
      const item = value.length === 8 ? itemAt(Number(value.readBigUInt64BE()), key) : undefined;
      if (item) items.push(item);
      else unreadable.push(key);
    }
    if (unreadable.length > 0) throw corrupt(`the value of ${listText(unreadable)}`);
    oldest = history[0]?.revision;
    return { revision: revision(), items, history };
  }

  function itemAt(written: number, key: string): StoredItem | undefined {
    const found = database.get(revisionKeyOf(area.values, written));
    const item = found && decodeValue(written, found); // a copy, which must not alias memory mapped by LMDB
    return item?.key === key ? item : undefined;
  }

  function valueAt(written: number, key: string): Uint8Array {
    const item = itemAt(written, key);
    if (!item) throw corrupt(`the item ${key} of revision ${written}`);
    return item.value;
  }

  async function commit({ events, firstKept }: Commit): Promise<void> {
    const from = oldest ?? events[0]?.revision ?? firstKept;
    const written = database.batch(() => {
      for (let gone = from; gone < firstKept; gone += 1) removeEvent(database, gone);
      for (const event of events) putEvent(database, event);
      const newest = events.at(-1);
      if (newest) void database.put(revisionKey, encodeText(String(newest.revision)));
      void database.put(formatKey, encodeText(format));
      void database.put(idKey, encodeText(sentinel.id));
    });
    await written.catch(async (caught: unknown) => {
      throw await causeOf(caught);
    });
    oldest = Math.max(oldest ?? 0, from, firstKept);
    sentinel.note(events.at(-1)?.revision ?? firstRevision);
  }

  async function close(): Promise<void> {
    sentinel.close();
    await database.close();
  }

  return { load, commit, valueAt, revision, close };
}

/** Ignores the promises of single writes, because the promise of the batch reports failures. */
function putEvent(database: Database, event: StoreEvent): void {
  void database.put(revisionKeyOf(area.history, event.revision), encodeRecord(recordOf(event)));
  const key = Buffer.concat([Buffer.of(area.items), Buffer.from(event.key)]);
  if (event.type === 'delete') {
    void database.remove(key);
    return;
  }
  // Appends the greatest key, which fills pages sequentially instead of splitting them. Its promise is not covered by the batch.
  database
    .put(revisionKeyOf(area.values, event.revision), encodeValue(event), { append: true })
    .catch(() => undefined);
  void database.put(key, encodeRevision(event.revision));
}

/** Removes an event and the value that it replaced. The value that it wrote belongs to an item or a later event. */
function removeEvent(database: Database, revision: number): void {
  const key = revisionKeyOf(area.history, revision);
  const stored = database.get(key);
  const previous = stored ? decodeRecord(revision, stored).previous : 0;
  if (previous > 0) void database.remove(revisionKeyOf(area.values, previous));
  void database.remove(key);
}

/**
 * Returns the cause of a failed commit. lmdb attaches it to the error as a promise, which rejects in the same turn of the event loop or never,
 * and would otherwise end the process as an unhandled rejection.
 */
async function causeOf(reason: unknown): Promise<unknown> {
  if (!(reason instanceof Error) || !('commitError' in reason)) return reason;
  const cause = Promise.resolve(reason.commitError).catch((caught: unknown) => caught);
  return (await Promise.race([cause, yieldToEventLoop(undefined)])) ?? reason;
}

/** Throws ArcError `InternalError` for data in another format. */
function checkFormat(database: Database): void {
  const found = readText(database, formatKey, 'the format') ?? format;
  if (found === format) return;
  const message = `the store has format ${found}, this version reads format ${format}: use the version that wrote it`;
  throw new ArcError('InternalError', message);
}

/** Returns the ID of the store; undefined if nothing was written, or by an earlier version. Throws StoreDamaged. */
export function readIdentity(database: Database): string | undefined {
  return readText(database, idKey, 'the identity');
}

function readText(database: Database, key: Buffer, what: string): string | undefined {
  const stored = database.get(key);
  const text = stored && decodeText(stored);
  if (stored && text === undefined) throw corrupt(what);
  return text;
}

/** Returns the entries of an area of the keyspace. */
export function entries(database: Database, of: number) {
  return database.getRange({ start: Buffer.of(of), end: Buffer.of(of + 1) });
}
