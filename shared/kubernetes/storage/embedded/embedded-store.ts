import { ArcError } from '#shared/base/errors';
import { checkKey } from '../interface/keys.ts';
import type {
  ListOptions,
  ReadOptions,
  Store,
  StoredItem,
  StoredList,
  WatchBatch,
  WatchOptions,
  WriteResult,
} from '../interface/store.ts';
import type { History } from '../memory/history.ts';
import type { Items } from '../memory/items.ts';
import { closedWhileWatched, Watchers } from '../memory/watchers.ts';
import { decide, type Write } from './decide.ts';
import type { Disk } from './disk.ts';
import { WriteQueue } from './write-queue.ts';

export interface EmbeddedParts {
  disk: Disk;
  items: Items;
  history: History;
  /** Gives up the claim on the folder. */
  release: () => void;
  /** ms; see Watchers. */
  progressInterval: number;
}

/**
 * The store of one process: the current state and the history in memory, where reads and watches find them, and on
 * disk. A write becomes visible and is acknowledged once its transaction is flushed: no reader can see a revision that
 * a crash would take back.
 */
export class EmbeddedStore implements Store {
  readonly synced = true;
  readonly #parts: EmbeddedParts;
  readonly #watchers: Watchers;
  readonly #writes: WriteQueue;
  #failure: ArcError | undefined;
  #compacting: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: EmbeddedParts) {
    this.#parts = parts;
    this.#watchers = new Watchers(parts.history, parts.progressInterval);
    this.#writes = new WriteQueue((writes) => this.#commit(writes));
  }

  async get(
    key: string,
    options: ReadOptions = {},
  ): Promise<{ item: StoredItem | undefined; revision: number }> {
    this.#checkReadable(options);
    return { item: this.#parts.items.get(key), revision: this.#parts.history.newest };
  }

  async list(prefix: string, options: ListOptions = {}): Promise<StoredList> {
    this.#checkReadable(options);
    const { items, history } = this.#parts;
    const range = { prefix, start: options.start ?? '', limit: options.limit || undefined };
    if (options.finding) await items.indexing(options.finding.by);
    const revision = options.revision || history.newest;
    if (revision === history.newest && options.finding)
      return { ...items.found(options.finding, range), revision };
    if (revision === history.newest) return { ...items.page(range), revision };
    this.#checkRevision(revision);
    return { ...items.page(range, history.overlayAt(revision, prefix)), revision };
  }

  create(key: string, value: Uint8Array): Promise<WriteResult> {
    return this.#write(key, value, 0);
  }

  async update(key: string, value: Uint8Array, expected: number): Promise<WriteResult> {
    checkExpected(key, expected);
    return this.#write(key, value, expected);
  }

  async delete(key: string, expected: number): Promise<WriteResult> {
    checkExpected(key, expected);
    return this.#write(key, undefined, expected);
  }

  watch(prefix: string, options: WatchOptions): AsyncIterable<WatchBatch> {
    return this.#watchers.watch(prefix, options);
  }

  requestProgress(): void {
    this.#watchers.remind();
  }

  async revision(): Promise<number> {
    this.#checkReadable({});
    return this.#parts.history.newest;
  }

  async compact(revision: number): Promise<void> {
    this.#checkReadable({});
    const { history } = this.#parts;
    if (revision > history.newest) throw future(revision, history.newest);
    history.drop(revision);
    this.#compacting = this.#parts.disk.commit({ events: [], firstKept: history.first });
    await this.#compacting;
  }

  /** Answers the writes it has taken, ends watches with ServiceUnavailable, frees the folder. Safe to repeat. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#writes.close();
    // The failure is reported to the caller of the compaction.
    await Promise.allSettled([this.#compacting]);
    this.#watchers.close(closedWhileWatched());
    try {
      this.#parts.release();
    } finally {
      await this.#parts.disk.close();
    }
  }

  /** The value is copied: the caller keeps its buffer, and no pooled buffer is kept alive by a small part of it. */
  async #write(key: string, value: Uint8Array | undefined, expected: number): Promise<WriteResult> {
    checkKey(key);
    return this.#writes.add({ key, value: value && new Uint8Array(value), expected });
  }

  async #commit(writes: Write[]): Promise<WriteResult[]> {
    if (this.#failure) throw this.#failure;
    const { disk, items, history } = this.#parts;
    const { results, events } = decide(writes, (key) => items.get(key), history.newest);
    if (events.length === 0) return results;
    try {
      await disk.commit({ events, firstKept: history.first });
    } catch (caught) {
      throw this.#commitFailed(ArcError.from(caught));
    }
    for (const event of events) items.apply(event);
    history.append(events);
    this.#watchers.publish(events);
    return results;
  }

  /** A failed commit most likely wrote nothing. If it did, the disk and the state in memory differ. */
  #commitFailed(cause: ArcError): ArcError {
    const message = `the store could not write to disk (${cause.message}); is it full?`;
    const error = new ArcError('ServiceUnavailable', message, { cause });
    if (this.#parts.disk.revision() !== this.#parts.history.newest) this.#failure = error;
    return error;
  }

  #checkReadable({ signal }: ReadOptions): void {
    if (this.#closing !== undefined) throw new ArcError('ServiceUnavailable', 'the store is closed');
    if (signal?.aborted) throw new ArcError('Timeout', 'the read was given up before it began');
  }

  #checkRevision(revision: number): void {
    const { floor, newest } = this.#parts.history;
    if (revision > newest) throw future(revision, newest);
    if (revision >= floor) return;
    throw new ArcError(
      'Expired',
      `revision ${revision} is compacted: the oldest that can be read is ${floor}`,
    );
  }
}

function future(revision: number, newest: number): ArcError {
  return new ArcError('Timeout', `revision ${revision} is not there yet: the newest is ${newest}`);
}

function checkExpected(key: string, expected: number): void {
  if (Number.isSafeInteger(expected) && expected > 0) return;
  throw new ArcError(
    'BadRequest',
    `${key}: the expected revision must be a positive integer, not ${expected}`,
  );
}
