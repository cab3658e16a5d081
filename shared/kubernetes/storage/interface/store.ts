/**
 * A revisioned key-value store with the semantics of etcd v3: every successful write takes the next number of one
 * counter, reads name the revision they saw, and a watch replays all writes after a revision in order. Every
 * method rejects with ArcError: `Expired` for a compacted revision, `Timeout` past its deadline or signal and for a
 * revision still to come, `ServiceUnavailable` when the store cannot answer, `BadRequest` for a key it cannot hold.
 *
 * Items, events and their values are shared by all who read them: they are read-only by agreement. A value that is
 * written may be changed by its owner once the method has been called. Revisions start above 0.
 */
export interface Store {
  /** The newest state of `key`, and the revision of the store that it was read at. */
  get(key: string, options?: ReadOptions): Promise<{ item: StoredItem | undefined; revision: number }>;

  /** Keys that begin with `prefix`, in byte order. */
  list(prefix: string, options?: ListOptions): Promise<StoredList>;

  /** Writes `key` if it is absent. */
  create(key: string, value: Uint8Array): Promise<WriteResult>;

  /** Writes `key` if its revision is still `expected`. */
  update(key: string, value: Uint8Array, expected: number): Promise<WriteResult>;

  /** Removes `key` if its revision is still `expected`. */
  delete(key: string, expected: number): Promise<WriteResult>;

  /**
   * All events after `after` under `prefix`, each once and in revision order, in batches; ends when `signal` is aborted.
   * An `after` still to come is waited for. Rejects with `Expired` when `after` is older than what is kept, or when the
   * consumer falls so far behind that events it has yet to see are forgotten: list again; with `ServiceUnavailable`
   * when the store is closed. A batch with no events reports progress: nothing under the prefix happened up to its
   * revision; it comes to a consumer that waits, now and then, while others write elsewhere.
   */
  watch(prefix: string, options: WatchOptions): AsyncIterable<WatchBatch>;

  /** Asks for a progress batch soon, for every watch that waits and that others' writes have left behind. */
  requestProgress(): void;

  /** The newest revision. */
  revision(): Promise<number>;

  /** Forgets history before `revision`: reads and watches that need it fail with `Expired`. Rejects with `Timeout` for one to come. */
  compact(revision: number): Promise<void>;

  /** False while what should be answered from memory is being loaded: until then every list and watch costs its full price. */
  readonly synced: boolean;

  close(): Promise<void>;
}

/** One key's value; `revision` is the write that made it (etcd's mod_revision). */
export interface StoredItem {
  key: string;
  value: Uint8Array;
  revision: number;
}

export interface ReadOptions {
  signal?: AbortSignal;
  /** A state not older than this revision will do, so that it can come from memory; 0 is any. Without it: the newest. */
  atLeast?: number;
}

export interface ListOptions extends ReadOptions {
  /** At most this many items; 0 is no limit. */
  limit?: number;
  /** Only keys >= this one (a key under the prefix): where the next page starts. */
  start?: string;
  /** The state at this past revision, instead of the newest, whatever `atLeast` says; 0 is the newest. */
  revision?: number;
  /** Only items with one of these words are wanted, and all of those: a store that has no index returns others too. `limit` is not for such a list. */
  finding?: Finding;
}

/** How the items of a collection are found by what is in them. */
export interface IndexedBy {
  /** The collection: keys that begin with this. */
  prefix: string;
  /** The words that an item is found by. Pure; called once for each state of an item. One function for each index: it is its identity. */
  wordsOf: (item: StoredItem) => readonly string[];
}

/** Words in an index of a collection. */
export interface Finding {
  by: IndexedBy;
  words: readonly string[];
}

export interface StoredList {
  items: StoredItem[];
  /** The revision the list is consistent at. */
  revision: number;
  /** How many items of the range come after the last one returned. */
  remaining: number;
}

/** `ok`: the write took `revision`. Otherwise nothing was written and `current` is what stood in its way. */
export type WriteResult = { ok: true; revision: number } | { ok: false; current: StoredItem | undefined };

export interface WatchOptions {
  after: number;
  signal: AbortSignal;
}

export interface WatchBatch {
  events: StoreEvent[];
  revision: number;
}

/** `previous` is what the write replaced; a `delete` has no value of its own. */
export type StoreEvent =
  | { type: 'put'; key: string; value: Uint8Array; revision: number; previous: StoredItem | undefined }
  | { type: 'delete'; key: string; revision: number; previous: StoredItem };

/** Waits between tries while the store does not answer, in milliseconds. */
export const retryWaits = { baseMs: 50, maxMs: 2000 };
