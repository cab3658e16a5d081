import { createBackoff, pause } from '#shared/async';
import { ArcError } from '#shared/errors';
import { createMetrics, type Metrics } from '#shared/telemetry';
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
} from '../store.ts';
import { closedWhileWatched } from '../watchers.ts';
import { Arrivals } from './arrivals.ts';
import { type CacheMetrics, cacheMetrics } from './cache-metrics.ts';
import { Memory, type MemoryOptions } from './memory.ts';

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
  /** Told why the cache has to be loaded anew; default a process warning. */
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
  readonly #memoryOptions: MemoryOptions;
  readonly #metrics: CacheMetrics;
  readonly #arrivals: Arrivals;
  readonly #closed = new AbortController();
  readonly #following: Promise<void>;
  #memory: Memory | undefined;

  constructor(store: Store, options: CacheOptions) {
    const { historyLimit = 20_000, historyBytes = 64 * 1024 * 1024, progressInterval = 1000 } = options;
    this.#store = store;
    this.#prefix = options.prefix;
    this.#memoryOptions = { history: { events: historyLimit, bytes: historyBytes }, progressInterval };
    this.#arrivals = new Arrivals(() => store.requestProgress());
    const facts = { revision: () => this.#memory?.newest ?? 0, capacity: historyLimit };
    this.#metrics = cacheMetrics(options.metrics ?? createMetrics(), facts);
    this.#following = this.#follow(options.onReload ?? warn);
  }

  get synced(): boolean {
    return this.#memory !== undefined;
  }

  async get(
    key: string,
    options: ReadOptions = {},
  ): Promise<{ item: StoredItem | undefined; revision: number }> {
    const memory = this.#memoryOf(key);
    const { atLeast = Number.POSITIVE_INFINITY, signal } = options;
    if (!memory || signal?.aborted || memory.newest < atLeast) return this.#store.get(key, options);
    return { item: memory.get(key), revision: memory.newest };
  }

  async list(prefix: string, options: ListOptions = {}): Promise<StoredList> {
    const { revision, signal } = options;
    const memory = this.#memoryOf(prefix);
    if (!memory || signal?.aborted) return this.#store.list(prefix, options);
    const served = revision ? memory.covers(revision) : await this.#isFresh(options);
    // While it waited, memory may have been loaded anew.
    return served && this.#memory ? this.#memory.list(prefix, options) : this.#store.list(prefix, options);
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

  /** What happened before memory begins is told by the store, until memory can take over. */
  async *watch(prefix: string, { after, signal }: WatchOptions): AsyncGenerator<WatchBatch, void, undefined> {
    let position = after;
    let memory = this.#memoryOf(prefix);
    if (!memory || position < memory.floor) {
      for await (const batch of this.#store.watch(prefix, { after, signal })) {
        yield batch;
        position = batch.revision;
        memory = this.#memoryOf(prefix);
        if (!memory) continue;
        if (position >= memory.floor) break;
        // Says how far the store has come, which is further: no need to wait for events that may not come.
        this.#store.requestProgress();
      }
    }
    if (memory && !signal.aborted) yield* memory.watchers.watch(prefix, { after: position, signal });
  }

  requestProgress(): void {
    this.#memory?.watchers.remind();
    this.#store.requestProgress();
  }

  revision(): Promise<number> {
    return this.#store.revision();
  }

  async compact(revision: number): Promise<void> {
    await this.#store.compact(revision);
    this.#memory?.forget(revision);
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#store.close();
    await this.#following;
    this.#memory?.watchers.close(closedWhileWatched());
    this.#memory = undefined;
  }

  /** Undefined for a key or prefix that is not kept, and until everything is there. */
  #memoryOf(key: string): Memory | undefined {
    return key.startsWith(this.#prefix) ? this.#memory : undefined;
  }

  async #isFresh({ atLeast, signal }: ReadOptions): Promise<boolean> {
    const wanted = atLeast ?? (await this.#store.revision());
    if (this.#isAt(wanted)) return true;
    const began = performance.now();
    const arrived = (await this.#arrivals.wait(wanted, signal)) && this.#isAt(wanted);
    this.#metrics.read((performance.now() - began) / 1000, arrived);
    return arrived;
  }

  #isAt(revision: number): boolean {
    return this.#memory !== undefined && this.#memory.newest >= revision;
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

  /** Whoever follows the memory of before cannot know what happened in between, and has to list again. */
  #load(list: StoredList): void {
    const former = this.#memory;
    this.#memory = new Memory(list, this.#memoryOptions, former);
    former?.watchers.close(
      new ArcError('Expired', 'events were missed while the store was away; list again'),
    );
    this.#metrics.loaded();
    this.#arrivals.arrived(this.#memory.newest);
  }

  #take(batch: WatchBatch): void {
    if (!this.#memory) return;
    this.#memory.take(batch);
    this.#metrics.received(batch.events);
    this.#arrivals.arrived(this.#memory.newest);
  }
}

function warn(error: ArcError): void {
  process.emitWarning(`the watch cache is loaded anew: ${error.message}`);
}
