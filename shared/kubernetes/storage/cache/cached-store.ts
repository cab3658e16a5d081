import { createBackoff, pause } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { createMetrics, type Metrics } from '#shared/base/telemetry';
import {
  type ListOptions,
  type ReadOptions,
  retryBackoff,
  type Store,
  type StoredItem,
  type StoredList,
  type WatchBatch,
  type WatchOptions,
  type WriteResult,
} from '../interface/store.ts';
import { closedDuringWatch } from '../memory/watchers.ts';
import { type CacheMetrics, cacheMetrics } from './cache-metrics.ts';
import { Freshness, SharedCall } from './freshness.ts';
import { WatchCache, type WatchCacheOptions } from './watch-cache.ts';

export interface CacheOptions {
  /** The cached key prefix. Other keys pass through. */
  prefix: string;
  /** Number of events kept for past revisions and resumed watches (default 20,000). */
  historyLimit?: number;
  /** Size limit of their replaced values in bytes (default 64 MiB). */
  historyBytes?: number;
  /** Interval of progress notifications to waiting watches in milliseconds (default 1,000). */
  progressInterval?: number;
  metrics?: Metrics;
  /** Called with the reason when the cache is reloaded. Default: a process warning. */
  onReload?: (error: ArcError) => void;
}

/**
 * Returns a store with a watch cache of `prefix`, filled by one list and watch of `store`, that serves lists and watches. Lists are
 * consistent: they read the revision of the store and wait until the cache has reached it (KEP-2340). Writes, and consistent reads of
 * single objects, go to `store`, which the returned store owns.
 */
export function cacheStore(store: Store, options: CacheOptions): Store {
  return new CachedStore(store, options);
}

class CachedStore implements Store {
  readonly #store: Store;
  readonly #prefix: string;
  readonly #cacheOptions: WatchCacheOptions;
  readonly #metrics: CacheMetrics;
  readonly #freshness: Freshness;
  /** The newest revision of the store. A read of a single key also returns it. */
  readonly #newest: SharedCall<{ revision: number }>;
  readonly #closed = new AbortController();
  readonly #following: Promise<void>;
  #cache: WatchCache | undefined;

  constructor(store: Store, options: CacheOptions) {
    const { historyLimit = 20_000, historyBytes = 64 * 1024 * 1024, progressInterval = 1000 } = options;
    this.#store = store;
    this.#prefix = options.prefix;
    this.#cacheOptions = { history: { events: historyLimit, bytes: historyBytes }, progressInterval };
    this.#freshness = new Freshness(() => store.requestProgress());
    this.#newest = new SharedCall(async () => ({ revision: await store.revision() }));
    const facts = { revision: () => this.#cache?.newest ?? 0, capacity: historyLimit };
    this.#metrics = cacheMetrics(options.metrics ?? createMetrics(), facts);
    this.#following = this.#follow(options.onReload ?? warn);
  }

  get synced(): boolean {
    return this.#cache !== undefined;
  }

  async get(
    key: string,
    options: ReadOptions = {},
  ): Promise<{ item: StoredItem | undefined; revision: number }> {
    const cache = this.#cacheOf(key);
    if (!cache || options.signal?.aborted) return this.#store.get(key, options);
    // A single read goes to the store. Concurrent reads share one read of the revision and are then served from the cache.
    if (options.atLeast === undefined && !this.#newest.isRunning)
      return this.#newest.run(this.#store.get(key, options));
    const wanted = options.atLeast ?? (await this.#newest.result()).revision;
    if (!this.#isAt(wanted)) return this.#store.get(key, options);
    // The cache may have been reloaded meanwhile.
    return this.#cache?.read(key) ?? this.#store.get(key, options);
  }

  async list(prefix: string, options: ListOptions = {}): Promise<StoredList> {
    const { revision, signal } = options;
    const cache = this.#cacheOf(prefix);
    if (!cache || signal?.aborted) return this.#store.list(prefix, options);
    if (options.lookup) await cache.whenIndexed(options.lookup.indexer);
    const served = revision ? cache.covers(revision) : await this.#isFresh(options);
    // The cache may have been reloaded meanwhile.
    return served && this.#cache ? this.#cache.list(prefix, options) : this.#store.list(prefix, options);
  }

  create(key: string, value: Uint8Array): Promise<WriteResult> {
    return this.#store.create(key, value);
  }

  update(key: string, value: Uint8Array, expected: number): Promise<WriteResult> {
    return this.#store.update(key, value, expected);
  }

  delete(key: string, expected: number): Promise<WriteResult> {
    return this.#store.delete(key, expected);
  }

  /** Watches the store for events before the floor of the cache, then switches to the cache. */
  async *watch(prefix: string, { after, signal }: WatchOptions): AsyncGenerator<WatchBatch, void, undefined> {
    let position = after;
    let cache = this.#cacheOf(prefix);
    if (!cache || position < cache.floor) {
      for await (const batch of this.#store.watch(prefix, { after, signal })) {
        yield batch;
        position = batch.revision;
        cache = this.#cacheOf(prefix);
        if (!cache) continue;
        if (position >= cache.floor) break;
        // Progress moves the position without waiting for the next event.
        this.#store.requestProgress();
      }
    }
    if (cache && !signal.aborted) yield* cache.watchers.watch(prefix, { after: position, signal });
  }

  requestProgress(): void {
    this.#cache?.watchers.reportProgress();
    this.#store.requestProgress();
  }

  revision(): Promise<number> {
    return this.#newest.result().then(({ revision }) => revision);
  }

  async compact(revision: number): Promise<void> {
    await this.#store.compact(revision);
    // Events that are still on their way would otherwise outlive the compaction in the cache.
    await this.#isFresh({ atLeast: revision });
    this.#cache?.forget(revision);
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#store.close();
    await this.#following;
    this.#cache?.watchers.close(closedDuringWatch());
    this.#cache = undefined;
  }

  /** Returns the cache of a key or prefix; undefined outside the cached prefix and until the cache is loaded. */
  #cacheOf(key: string): WatchCache | undefined {
    return key.startsWith(this.#prefix) ? this.#cache : undefined;
  }

  async #isFresh({ atLeast, signal }: ReadOptions): Promise<boolean> {
    const wanted = atLeast ?? (await this.#newest.result()).revision;
    if (this.#isAt(wanted)) return true;
    const began = performance.now();
    const arrived = (await this.#freshness.wait(wanted, signal)) && this.#isAt(wanted);
    this.#metrics.read((performance.now() - began) / 1000, arrived);
    return arrived;
  }

  #isAt(revision: number): boolean {
    return this.#cache !== undefined && this.#cache.newest >= revision;
  }

  /** Keeps the cache up to date until the store is closed. Relists when the watch fails. */
  async #follow(report: (error: ArcError) => void): Promise<void> {
    const { signal } = this.#closed;
    const backoff = createBackoff(retryBackoff);
    while (!signal.aborted) {
      try {
        const list = await this.#store.list(this.#prefix, { signal });
        this.#load(list);
        backoff.reset();
        for await (const batch of this.#store.watch(this.#prefix, { after: list.revision, signal }))
          this.#apply(batch);
      } catch (caught) {
        if (!signal.aborted) report(ArcError.from(caught));
      }
      await pause(backoff.next(), signal);
    }
  }

  /** Replaces the cache. Watches of the previous cache have missed events and must relist. */
  #load(list: StoredList): void {
    const previous = this.#cache;
    this.#cache = new WatchCache(list, this.#cacheOptions, previous);
    previous?.watchers.close(
      new ArcError('Expired', 'events were missed while the store was unavailable; list again'),
    );
    this.#metrics.loaded();
    this.#freshness.advance(this.#cache.newest);
  }

  #apply(batch: WatchBatch): void {
    if (!this.#cache) return;
    this.#cache.apply(batch);
    this.#metrics.received(batch.events);
    this.#freshness.advance(this.#cache.newest);
  }
}

function warn(error: ArcError): void {
  process.emitWarning(`the watch cache is reloaded: ${error.message}`);
}
