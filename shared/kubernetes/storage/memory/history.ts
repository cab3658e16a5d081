import { ArcError } from '#shared/base/errors';
import type { StoredItem, StoreEvent } from '../interface/store.ts';
import type { Overlay, PastItem } from './items.ts';

/** Limits of the history: number of events, and bytes of replaced values. */
export interface HistoryLimits {
  events: number;
  bytes: number;
}

/** An event without its values. */
export interface EventRecord {
  type: StoreEvent['type'];
  key: string;
  revision: number;
  /** Revision of the replaced item; 0: none. */
  previous: number;
  /** Size of the replaced value. */
  previousBytes: number;
}

/** The initial state of a history: `records` are all events after `floor` up to `newest`. */
export interface HistoryStart {
  floor: number;
  newest: number;
  /** Events whose values are in the archive. */
  records?: readonly EventRecord[];
}

/** Storage of the values of older events, so that only the newest are in memory. */
export interface Archive {
  /** Limit of replaced values in memory, in bytes. */
  recentBytes: number;
  /** Returns the value written at a revision that the history still references. */
  valueAt(revision: number, key: string): Uint8Array;
}

/** An event of the history. Its values are in memory (`event`), or in the archive. */
export interface HistoryEntry extends EventRecord {
  event: StoreEvent | undefined;
}

/** Estimated size of an event without its replaced value. */
const eventBytes = 200;

/**
 * The newest events in revision order, bounded by count and bytes. Revisions may have gaps (other keys in the same etcd), and a revision
 * may have several events. Watches have no other buffer: a watcher is a position in the history, so 200 watchers share the event objects.
 */
export class History {
  readonly #limits: HistoryLimits;
  readonly #archive: Archive | undefined;
  #entries: (HistoryEntry | undefined)[];
  /** Index in #entries of the oldest event. Entries before it are removed in bulk. */
  #head = 0;
  /** Index in #entries of the oldest event whose values are in memory. */
  #recent: number;
  #floor: number;
  #newest: number;
  #bytes: number;
  /** The part of #bytes from index #recent. */
  #recentBytes = 0;

  /** @param archive undefined: all values stay in memory */
  constructor(limits: HistoryLimits, { floor, newest, records = [] }: HistoryStart, archive?: Archive) {
    this.#limits = limits;
    this.#archive = archive;
    this.#entries = records.map((record) => ({ ...record, event: undefined }));
    this.#recent = records.length;
    this.#floor = floor;
    this.#newest = newest;
    this.#bytes = records.reduce((sum, record) => sum + cost(record), 0);
    this.#trim();
  }

  /** The revision of the oldest event, or the next revision if the history is empty. */
  get first(): number {
    return this.#entries[this.#head]?.revision ?? this.#newest + 1;
  }

  /** The newest revision: the history is complete up to it. */
  get newest(): number {
    return this.#newest;
  }

  /** The oldest revision that can be read or watched from. */
  get floor(): number {
    return this.#floor;
  }

  get limits(): HistoryLimits {
    return this.#limits;
  }

  /** Yields the events after a revision, which must not be below the floor. */
  *after(revision: number): Generator<HistoryEntry, void, undefined> {
    for (let at = this.#indexAfter(revision); at < this.#entries.length; at += 1) {
      const entry = this.#entries[at];
      if (entry) yield entry;
    }
  }

  /** Returns an event with its values. `entry` is valid until the next write. */
  eventOf(entry: HistoryEntry): StoreEvent {
    if (entry.event) return entry.event;
    const { type, key, revision } = entry;
    const previous = entry.previous === 0 ? undefined : this.#itemAt(entry.previous, key);
    if (type === 'put') return { type, ...this.#itemAt(revision, key), previous };
    if (previous) return { type, key, revision, previous };
    throw new ArcError('InternalError', `the history has a delete without a previous item at ${key}`);
  }

  /** Appends events and advances to `newest`, which may be later than the last event. */
  append(events: readonly StoreEvent[], newest = events.at(-1)?.revision ?? this.#newest): void {
    for (const event of events) {
      const entry = { ...recordOf(event), event };
      this.#entries.push(entry);
      this.#bytes += cost(entry);
      this.#recentBytes += cost(entry);
    }
    this.#newest = Math.max(this.#newest, newest);
    this.#trim();
    this.#archiveOld();
  }

  /** Drops events up to and including `revision`. */
  drop(revision: number): void {
    while (this.first <= Math.min(revision, this.#newest)) this.#shift();
    this.#floor = Math.max(this.#floor, revision);
    this.#sweep();
  }

  /** Returns the state at `revision` of the keys that have changed since. */
  overlayAt(revision: number, prefix: string): Overlay {
    const overlay = new Map<string, PastItem | undefined>();
    for (const entry of this.after(revision)) {
      const { key, previous, event } = entry;
      if (!key.startsWith(prefix) || overlay.has(key)) continue;
      const read = () => event?.previous ?? this.#itemAt(previous, key);
      overlay.set(key, previous === 0 ? undefined : { key, read });
    }
    return overlay;
  }

  #itemAt(revision: number, key: string): StoredItem {
    if (!this.#archive)
      throw new ArcError('InternalError', 'a value is missing from a history without an archive');
    return { key, value: this.#archive.valueAt(revision, key), revision };
  }

  /** Binary search for the first event after a revision. */
  #indexAfter(revision: number): number {
    let low = this.#head;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle]?.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #trim(): void {
    while (this.#head < this.#entries.length && this.#isOver()) this.#shift();
    this.#sweep();
  }

  #isOver(): boolean {
    return this.#entries.length - this.#head > this.#limits.events || this.#bytes > this.#limits.bytes;
  }

  #shift(): void {
    const entry = this.#entries[this.#head];
    if (!entry) return;
    if (this.#recent === this.#head) this.#leaveRecent(entry);
    this.#bytes -= cost(entry);
    this.#floor = Math.max(this.#floor, entry.revision);
    this.#entries[this.#head] = undefined;
    this.#head += 1;
  }

  /** Releases values above the limit, which are in the archive. */
  #archiveOld(): void {
    if (!this.#archive) return;
    while (this.#recentBytes > this.#archive.recentBytes) {
      const entry = this.#entries[this.#recent];
      if (!entry) return;
      this.#leaveRecent(entry);
      entry.event = undefined;
    }
  }

  #leaveRecent(entry: HistoryEntry): void {
    this.#recent += 1;
    this.#recentBytes -= cost(entry);
  }

  /** Removes dropped entries from the array once they are the majority. */
  #sweep(): void {
    if (this.#head < 1024 || this.#head * 2 < this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#head);
    this.#recent -= this.#head;
    this.#head = 0;
  }
}

/** The revision of a new store, as in etcd: in the Kubernetes API, resourceVersion 0 means "any". */
export const firstRevision = 1;

export function recordOf({ type, key, revision, previous }: StoreEvent): EventRecord {
  const previousBytes = previous?.value.byteLength ?? 0;
  return { type, key, revision, previous: previous?.revision ?? 0, previousBytes };
}

function cost({ previousBytes }: EventRecord): number {
  return eventBytes + previousBytes;
}
