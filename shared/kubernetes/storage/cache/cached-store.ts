import { createBackoff, pause } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { createMetrics, type Metrics } from '#shared/base/telemetry';
import {
  type ListOptions,
  type ReadOptions,
  retryWaits,
  type Store,
  type StoredItem,
  type StoredList,
  type WatchBatch,
  type WatchOptions,
  type WriteResult,
} from '../interface/store.ts';
import { closedWhileWatched } from '../memory/watchers.ts';
import { type CacheMetrics, cacheMetrics } from './cache-metrics.ts';
import { Freshness, SharedQuestion } from './freshness.ts';
import { WatchCache, type WatchCacheOptions } from './watch-cache.ts';

export interface CacheOptions {
  /** What is kept in memory; everything else passes through. */
  prefix: string;
  /** How many events are kept for past revisions and for watches that resume (default 20,000). */
  historyLimit?: number;
  /** How many bytes of replaced values are kept with them (default 64 MiB). */
  historyBytes?: number;
  /** ms after which a watch that waits hears how far the store has come (default 1,000). */
  progressInterval?: number;
  metrics?: Metrics;
  /** Called with the reason each time the cache has to be reloaded; by default a process warning. */
  onReload?: (error: ArcError) => void;
}

/**
 * Keeps what is under `prefix` in memory, by one list and one watch of `store`, and serves lists and watches from there.
 * A list is as fresh as one of the store: it asks the store for its revision and waits until the watch has come to it
 * (KEP-2340). Writes, and reads of single objects that have to be fresh, go to the store. Owns `store`.
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
  /** How far the store has come. A read of one key from the store tells it as well. */
  readonly #newest: SharedQuestion<{ revision: number }>;
  readonly #closed = new AbortController();
  readonly #following: Promise<void>;
  #cache: WatchCache | undefined;

  constructor(store: Store, options: CacheOptions) {
    const { historyLimit = 20_000, historyBytes = 64 * 1024 * 1024, progressInterval = 1000 } = options;
    this.#store = store;
    this.#prefix = options.prefix;
    this.#cacheOptions = { history: { events: historyLimit, bytes: historyBytes }, progressInterval };
    this.#freshness = new Freshness(() => store.requestProgress());
    this.#newest = new SharedQuestion(async () => ({ revision: await store.revision() }));
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
    // A read by itself asks the store for its key. Reads at the same time ask together how far the store has come: most are in memory.
    if (options.atLeast === undefined && !this.#newest.isRunning)
      return this.#newest.run(this.#store.get(key, options));
    const wanted = options.atLeast ?? (await this.#newest.answer()).revision;
    if (!this.#isAt(wanted)) return this.#store.get(key, options);
    // The cache may have been reloaded meanwhile.
    return this.#cache?.read(key) ?? this.#store.get(key, options);
  }

  async list(prefix: string, options: ListOptions = {}): Promise<StoredList> {
    const { revision, signal } = options;
    const cache = this.#cacheOf(prefix);
    if (!cache || signal?.aborted) return this.#store.list(prefix, options);
    if (options.finding) await cache.indexing(options.finding.by);
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

  /** Events from before the cache begins come from the store, until the cache can take over. */
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
        // The next progress report is of a later revision: there is no need to wait for events that may not come.
        this.#store.requestProgress();
      }
    }
    if (cache && !signal.aborted) yield* cache.watchers.watch(prefix, { after: position, signal });
  }

  requestProgress(): void {
    this.#cache?.watchers.remind();
    this.#store.requestProgress();
  }

  revision(): Promise<number> {
    return this.#newest.answer().then(({ revision }) => revision);
  }

  async compact(revision: number): Promise<void> {
    await this.#store.compact(revision);
    this.#cache?.forget(revision);
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#store.close();
    await this.#following;
    this.#cache?.watchers.close(closedWhileWatched());
    this.#cache = undefined;
  }

  /** Undefined for a key or prefix outside the cache, and until the cache is loaded. */
  #cacheOf(key: string): WatchCache | undefined {
    return key.startsWith(this.#prefix) ? this.#cache : undefined;
  }

  async #isFresh({ atLeast, signal }: ReadOptions): Promise<boolean> {
    const wanted = atLeast ?? (await this.#newest.answer()).revision;
    if (this.#isAt(wanted)) return true;
    const began = performance.now();
    const arrived = (await this.#freshness.wait(wanted, signal)) && this.#isAt(wanted);
    this.#metrics.read((performance.now() - began) / 1000, arrived);
    return arrived;
  }

  #isAt(revision: number): boolean {
    return this.#cache !== undefined && this.#cache.newest >= revision;
  }

  /** Loads and follows for as long as the store is open; a watch that cannot go on means to load again. */
  async #follow(report: (error: ArcError) => void): Promise<void> {
    const { signal } = this.#closed;
    const backoff = createBackoff(retryWaits);
    while (!signal.aborted) {
      try {
        const list = await this.#store.list(this.#prefix, { signal });
        this.#load(list);
        backoff.reset();
        for await (const batch of this.#store.watch(this.#prefix, { after: list.revision, signal }))
          this.#take(batch);
      } catch (caught) {
        if (!signal.aborted) report(ArcError.from(caught));
      }
      await pause(backoff.next(), signal);
    }
  }

  /** The watchers of the former cache have missed events: they have to list again. */
  #load(list: StoredList): void {
    const former = this.#cache;
    this.#cache = new WatchCache(list, this.#cacheOptions, former);
    former?.watchers.close(
      new ArcError('Expired', 'events were missed while the store was away; list again'),
    );
    this.#metrics.loaded();
    this.#freshness.arrived(this.#cache.newest);
  }

  #take(batch: WatchBatch): void {
    if (!this.#cache) return;
    this.#cache.take(batch);
    this.#metrics.received(batch.events);
    this.#freshness.arrived(this.#cache.newest);
  }
}

function warn(error: ArcError): void {
  process.emitWarning(`the watch cache is reloaded: ${error.message}`);
}
