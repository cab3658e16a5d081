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
import { closedDuringWatch, Watchers } from '../memory/watchers.ts';
import { decide, type Write } from './decide.ts';
import type { Disk } from './disk.ts';
import { WriteQueue } from './write-queue.ts';

export interface EmbeddedParts {
  disk: Disk;
  items: Items;
  history: History;
  /** Releases the lock on the folder. */
  release: () => void;
  /** Milliseconds; see Watchers. */
  progressInterval: number;
}

/**
 * The store of a single process, with the current state and the history in memory and on disk. A write becomes visible and is acknowledged
 * after its transaction is flushed, so that no reader sees a revision that a crash could revert.
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
    if (options.lookup) await items.whenIndexed(options.lookup.indexer);
    const revision = options.revision || history.newest;
    if (revision === history.newest && options.lookup)
      return { ...items.lookUp(options.lookup, range), revision };
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
    this.#watchers.reportProgress();
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

  /** Finishes queued writes, rejects watches with ServiceUnavailable, and releases the folder. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#writes.close();
    // compact() reports the failure to its caller.
    await Promise.allSettled([this.#compacting]);
    this.#watchers.close(closedDuringWatch());
    try {
      this.#parts.release();
    } finally {
      await this.#parts.disk.close();
    }
  }

  /** Copies the value, because the caller may reuse its buffer, and a slice would keep a pooled buffer alive. */
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

  /** A failed commit usually wrote nothing. If it did, disk and memory differ, and the store fails permanently. */
  #commitFailed(cause: ArcError): ArcError {
    const message = `the store could not write to disk (${cause.message}); is it full?`;
    const error = new ArcError('ServiceUnavailable', message, { cause });
    if (this.#parts.disk.revision() !== this.#parts.history.newest) this.#failure = error;
    return error;
  }

  #checkReadable({ signal }: ReadOptions): void {
    if (this.#closing !== undefined) throw new ArcError('ServiceUnavailable', 'the store is closed');
    if (signal?.aborted) throw new ArcError('Timeout', 'the read was aborted by its caller');
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
  return new ArcError('Timeout', `revision ${revision} is in the future: the newest is ${newest}`);
}

function checkExpected(key: string, expected: number): void {
  if (Number.isSafeInteger(expected) && expected > 0) return;
  throw new ArcError(
    'BadRequest',
    `${key}: the expected revision must be a positive integer, not ${expected}`,
  );
}
