import { ArcError } from '#shared/base/errors';
import type {
  IndexedBy,
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
  /** ms; see Watchers. */
  progressInterval: number;
}

/** What one list of the store and the watch after it have shown: the state, the events since then, and the watchers of both. */
export class WatchCache {
  readonly watchers: Watchers;
  readonly #items: Items;
  readonly #history: History;

  /** `known` lends its items where they are the same, with all that others may have attached to them. */
  constructor({ items, revision }: StoredList, options: WatchCacheOptions, known?: WatchCache) {
    this.#items = new Items(items.map((item) => known?.sameAs(item) ?? item));
    this.#history = new History(options.history, { floor: revision, newest: revision });
    this.watchers = new Watchers(this.#history, options.progressInterval);
  }

  get newest(): number {
    return this.#history.newest;
  }

  /** True if lists at this past revision, and watches after it, can be served. */
  covers(revision: number): boolean {
    return revision >= this.#history.floor && revision <= this.#history.newest;
  }

  get floor(): number {
    return this.#history.floor;
  }

  sameAs(item: StoredItem): StoredItem | undefined {
    const known = this.#items.get(item.key);
    return known?.revision === item.revision ? known : undefined;
  }

  read(key: string): { item: StoredItem | undefined; revision: number } {
    return { item: this.#items.get(key), revision: this.newest };
  }

  /** See Items. */
  indexing(by: IndexedBy): Promise<unknown> | undefined {
    return this.#items.indexing(by);
  }

  /** The list now, or at a past revision that it covers. */
  list(prefix: string, { start = '', limit, revision, finding }: ListOptions): StoredList {
    const range = { prefix, start, limit: limit || undefined };
    const at = revision || this.newest;
    if (at === this.newest && finding) return { ...this.#items.found(finding, range), revision: at };
    if (at === this.newest) return { ...this.#items.page(range), revision: at };
    return { ...this.#items.page(range, this.#history.overlayAt(at, prefix)), revision: at };
  }

  /** Throws InternalError if an event replaces something else than what is here: then something was missed. */
  take({ events, revision }: WatchBatch): void {
    const taken = events.map((event) => this.#apply(event));
    this.#history.append(taken, revision);
    this.watchers.publish(taken);
  }

  forget(revision: number): void {
    this.#history.drop(Math.min(revision, this.newest));
  }

  #apply(event: StoreEvent): StoreEvent {
    const previous = this.#items.get(event.key);
    if (previous?.revision !== event.previous?.revision) {
      const message = `the event of revision ${event.revision} at ${event.key} does not follow what is in memory`;
      throw new ArcError('InternalError', message);
    }
    // The item that is here already, so that its value is in memory once.
    const taken =
      event.type === 'put' ? { ...event, previous } : { ...event, previous: previous ?? event.previous };
    this.#items.apply(taken);
    return taken;
  }
}
