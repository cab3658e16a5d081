import { ArcError } from '#shared/base/errors';
import type { StoredItem, StoreEvent } from '../interface/store.ts';
import type { Overlay, PastItem } from './items.ts';

/** How much of the past is kept: events, and bytes of the values they replaced. */
export interface HistoryLimits {
  events: number;
  bytes: number;
}

/** An event without its values. */
export interface EventRecord {
  type: StoreEvent['type'];
  key: string;
  revision: number;
  /** The revision of what it replaced; 0: nothing. */
  previous: number;
  /** The size of what it replaced. */
  previousBytes: number;
}

/** Where a history begins: everything that happened after `floor` and up to `newest` is among `records`. */
export interface HistoryStart {
  floor: number;
  newest: number;
  /** Of events whose values the archive has. */
  records?: readonly EventRecord[];
}

/** Where the values of events are found again, so that those of the newest events only have to be in memory. */
export interface Archive {
  /** How many bytes of replaced values stay in memory, with their events. */
  recentBytes: number;
  /** The value that was written at a revision which the history still needs. */
  valueAt(revision: number, key: string): Uint8Array;
}

/** An event of a history. Its values are in memory with `event`, or in the archive. */
export interface HistoryEntry extends EventRecord {
  event: StoreEvent | undefined;
}

/** The size of an event without the value it replaced: its own fields and its key. */
const eventBytes = 200;

/**
 * The newest events in revision order, bounded by count and bytes. Revisions may be missing between them (of others in
 * the same etcd), and one revision may have several events. It is the only buffer that watches have: a watcher is a
 * revision in it, so 200 watchers share the event objects.
 */
export class History {
  readonly #limits: HistoryLimits;
  readonly #archive: Archive | undefined;
  #entries: (HistoryEntry | undefined)[];
  /** Index in #entries of the oldest event kept; what stands before it is forgotten and swept away in bulk. */
  #head = 0;
  /** Index in #entries of the oldest event whose values are in memory. */
  #recent: number;
  #floor: number;
  #newest: number;
  #bytes: number;
  /** The part of #bytes from #recent on. */
  #recentBytes = 0;

  /** Without an archive all values stay in memory. */
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

  /** The revision of the oldest event kept, or the next one to come. */
  get first(): number {
    return this.#entries[this.#head]?.revision ?? this.#newest + 1;
  }

  /** The newest revision: nothing up to it is missing. */
  get newest(): number {
    return this.#newest;
  }

  /** The oldest revision that can be read at or watched from. */
  get floor(): number {
    return this.#floor;
  }

  get limits(): HistoryLimits {
    return this.#limits;
  }

  /** The events after a revision, which must not be below the floor, oldest first. */
  *after(revision: number): Generator<HistoryEntry, void, undefined> {
    for (let at = this.#indexAfter(revision); at < this.#entries.length; at += 1) {
      const entry = this.#entries[at];
      if (entry) yield entry;
    }
  }

  /** The event with its values. An entry that `after` has yielded is good until the next write. */
  eventOf(entry: HistoryEntry): StoreEvent {
    if (entry.event) return entry.event;
    const { type, key, revision } = entry;
    const previous = entry.previous === 0 ? undefined : this.#itemAt(entry.previous, key);
    if (type === 'put') return { type, ...this.#itemAt(revision, key), previous };
    if (previous) return { type, key, revision, previous };
    throw new ArcError('InternalError', `the history has a deletion of nothing at ${key}`);
  }

  /** Takes what happened up to `newest`, which may be later than the last event: nothing of ours happened in between. */
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

  /** Forgets events up to and including `revision`. */
  drop(revision: number): void {
    while (this.first <= Math.min(revision, this.#newest)) this.#shift();
    this.#floor = Math.max(this.#floor, revision);
    this.#sweep();
  }

  /** What was at `revision` at the keys that were written since. */
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
    if (!this.#archive) throw new ArcError('InternalError', 'a history without an archive has lost a value');
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

  /** Lets go of values that the archive has. */
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

  /** Closes the gap that what was forgotten has left, once it is the larger part. */
  #sweep(): void {
    if (this.#head < 1024 || this.#head * 2 < this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#head);
    this.#recent -= this.#head;
    this.#head = 0;
  }
}

/** A new store stands at 1, as etcd does: in the Kubernetes API the resourceVersion 0 means "any". */
export const firstRevision = 1;

export function recordOf({ type, key, revision, previous }: StoreEvent): EventRecord {
  const previousBytes = previous?.value.byteLength ?? 0;
  return { type, key, revision, previous: previous?.revision ?? 0, previousBytes };
}

function cost({ previousBytes }: EventRecord): number {
  return eventBytes + previousBytes;
}
