import { ArcError } from '#shared/base/errors';
import type {
  ItemIndexer,
  ListOptions,
  StoredItem,
  StoredList,
  StoreEvent,
  WatchBatch,
} from '../interface/store.ts';
import { History, type HistoryLimits } from '../memory/history.ts';
import { Items } from '../memory/items.ts';
import { Watchers } from '../memory/watchers.ts';

export interface WatchCacheOptions {
  history: HistoryLimits;
  /** Milliseconds; see Watchers. */
  progressInterval: number;
}

/** The state and history of a prefix since a list of the store, and the watches of it. */
export class WatchCache {
  readonly watchers: Watchers;
  readonly #items: Items;
  readonly #history: History;

  /** @param known the previous cache, whose unchanged items are reused, because other caches are keyed by them */
  constructor({ items, revision }: StoredList, options: WatchCacheOptions, known?: WatchCache) {
    this.#items = new Items(items.map((item) => known?.identical(item) ?? item));
    this.#history = new History(options.history, { floor: revision, newest: revision });
    this.watchers = new Watchers(this.#history, options.progressInterval);
  }

  get newest(): number {
    return this.#history.newest;
  }

  /** Tells whether lists at a revision, and watches after it, can be served. */
  covers(revision: number): boolean {
    return revision >= this.#history.floor && revision <= this.#history.newest;
  }

  get floor(): number {
    return this.#history.floor;
  }

  identical(item: StoredItem): StoredItem | undefined {
    const known = this.#items.get(item.key);
    return known?.revision === item.revision ? known : undefined;
  }

  read(key: string): { item: StoredItem | undefined; revision: number } {
    return { item: this.#items.get(key), revision: this.newest };
  }

  /** See Items. */
  whenIndexed(indexer: ItemIndexer): Promise<unknown> | undefined {
    return this.#items.whenIndexed(indexer);
  }

  /** Returns the list at the newest or a covered past revision. */
  list(prefix: string, { start = '', limit, revision, lookup }: ListOptions): StoredList {
    const range = { prefix, start, limit: limit || undefined };
    const at = revision || this.newest;
    if (at === this.newest && lookup) return { ...this.#items.lookUp(lookup, range), revision: at };
    if (at === this.newest) return { ...this.#items.page(range), revision: at };
    return { ...this.#items.page(range, this.#history.overlayAt(at, prefix)), revision: at };
  }

  /** Applies events. Throws InternalError if the previous state of an event differs from the cached state, because events were missed. */
  apply({ events, revision }: WatchBatch): void {
    const applied = events.map((event) => this.#apply(event));
    this.#history.append(applied, revision);
    this.watchers.publish(applied);
  }

  forget(revision: number): void {
    this.#history.drop(Math.min(revision, this.newest));
  }

  #apply(event: StoreEvent): StoreEvent {
    const previous = this.#items.get(event.key);
    if (previous?.revision !== event.previous?.revision) {
      const message = `the event of revision ${event.revision} at ${event.key} does not follow the cached state`;
      throw new ArcError('InternalError', message);
    }
    // Reuses the cached item, so that its value is in memory once.
    const shared =
      event.type === 'put' ? { ...event, previous } : { ...event, previous: previous ?? event.previous };
    this.#items.apply(shared);
    return shared;
  }
}
