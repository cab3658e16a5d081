/**
 * A revisioned key-value store with the semantics of etcd v3: every successful write increments the revision, reads return the revision
 * of the store, and a watch replays all writes after a revision in order. Methods reject with ArcError: `Expired` for a compacted
 * revision, `Timeout` after a deadline or abort and for a future revision, `ServiceUnavailable` if the store is unavailable, `BadRequest`
 * for an invalid key.
 *
 * Items, events and their values are shared by all readers and must not be mutated. The caller of a write may reuse its buffer after the
 * call. Revisions start above 0.
 */
export interface Store {
  /** Returns the newest state of `key`, and the revision of the store at the time of the read. */
  get(key: string, options?: ReadOptions): Promise<{ item: StoredItem | undefined; revision: number }>;

  /** Returns the items whose keys have `prefix`, in byte order. */
  list(prefix: string, options?: ListOptions): Promise<StoredList>;

  /** Writes `key` if it does not exist. */
  create(key: string, value: Uint8Array): Promise<WriteResult>;

  /** Writes `key` if its revision is still `expected`. */
  update(key: string, value: Uint8Array, expected: number): Promise<WriteResult>;

  /** Deletes `key` if its revision is still `expected`. */
  delete(key: string, expected: number): Promise<WriteResult>;

  /**
   * Yields all events after revision `after` under `prefix` in revision order, in batches, until `signal` is aborted. Waits for a future
   * `after`. Rejects with `Expired` if `after` is compacted, or if the consumer falls behind the compacted history: relist. Rejects with
   * `ServiceUnavailable` when the store is closed. A batch without events is a progress notification (bookmark): no event under the prefix
   * up to its revision. It is sent periodically to a waiting consumer while other keys change.
   */
  watch(prefix: string, options: WatchOptions): AsyncIterable<WatchBatch>;

  /** Requests a progress notification for every waiting watch that is behind the store. */
  requestProgress(): void;

  /** Returns the newest revision. */
  revision(): Promise<number>;

  /** Compacts the history before `revision`: reads and watches of it reject with `Expired`. Rejects with `Timeout` for a future revision. */
  compact(revision: number): Promise<void>;

  /** False while a cache initializes: until then, lists and watches are served by the backing store. */
  readonly synced: boolean;

  close(): Promise<void>;
}

/** The value of a key; `revision` is the revision of its last write (etcd's mod_revision). */
export interface StoredItem {
  key: string;
  value: Uint8Array;
  revision: number;
}

export interface ReadOptions {
  signal?: AbortSignal;
  /** Accepts a cached state at this revision or newer; 0: any. Default: the newest state. */
  atLeast?: number;
}

export interface ListOptions extends ReadOptions {
  /** Maximum number of items; 0: no limit. */
  limit?: number;
  /** The first key of the page, inclusive. */
  start?: string;
  /** Reads the state at this past revision and ignores `atLeast`; 0: the newest. */
  revision?: number;
  /** Reads only items with one of these index values. A store without an index returns other items as well. Not combined with `limit`. */
  lookup?: IndexLookup;
}

/** The definition of an index of a collection. */
export interface ItemIndexer {
  /** The key prefix of the collection. */
  prefix: string;
  /** Returns the index values of an item. Pure; called once per state of an item. The function is the identity of the index. */
  indexValuesOf: (item: StoredItem) => readonly string[];
}

/** A lookup of items by index values. */
export interface IndexLookup {
  indexer: ItemIndexer;
  values: readonly string[];
}

export interface StoredList {
  items: StoredItem[];
  /** The revision of the consistent snapshot. */
  revision: number;
  /** Number of items in the range after the last returned item. */
  remaining: number;
}

/** `ok`: the write succeeded at `revision`. Otherwise a conflict with `current`, which is undefined if the key does not exist. */
export type WriteResult = { ok: true; revision: number } | { ok: false; current: StoredItem | undefined };

export interface WatchOptions {
  after: number;
  signal: AbortSignal;
}

export interface WatchBatch {
  events: StoreEvent[];
  revision: number;
}

/** `previous` is the item before the write. */
export type StoreEvent =
  | { type: 'put'; key: string; value: Uint8Array; revision: number; previous: StoredItem | undefined }
  | { type: 'delete'; key: string; revision: number; previous: StoredItem };

/** Backoff of retries while the store is unavailable. */
export const retryBackoff = { baseMs: 50, maxMs: 2000 };
