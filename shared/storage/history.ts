import type { Overlay } from './items.ts';
import type { StoreEvent } from './store.ts';

/** How much of the past is kept: events, and bytes of the values they replaced. */
export interface HistoryLimits {
  events: number;
  bytes: number;
}

/** Where a history begins: everything that happened after `floor` and up to `newest` is among `events`. */
export interface HistoryStart {
  floor: number;
  newest: number;
  events?: readonly StoreEvent[];
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
  #events: (StoreEvent | undefined)[];
  /** Index in #events of the oldest event kept; what stands before it is forgotten and swept away in bulk. */
  #head = 0;
  #floor: number;
  #newest: number;
  #bytes: number;

  constructor(limits: HistoryLimits, { floor, newest, events = [] }: HistoryStart) {
    this.#limits = limits;
    this.#events = [...events];
    this.#floor = floor;
    this.#newest = newest;
    this.#bytes = events.reduce((sum, event) => sum + cost(event), 0);
    this.#trim();
  }

  /** The revision of the oldest event kept, or the next one to come. */
  get first(): number {
    return this.#events[this.#head]?.revision ?? this.#newest + 1;
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
  *after(revision: number): Generator<StoreEvent, void, undefined> {
    for (let at = this.#indexAfter(revision); at < this.#events.length; at += 1) {
      const event = this.#events[at];
      if (event) yield event;
    }
  }

  /** Takes what happened up to `newest`, which may be later than the last event: nothing of ours happened in between. */
  append(events: readonly StoreEvent[], newest = events.at(-1)?.revision ?? this.#newest): void {
    for (const event of events) {
      this.#events.push(event);
      this.#bytes += cost(event);
    }
    this.#newest = Math.max(this.#newest, newest);
    this.#trim();
  }

  /** Forgets events up to and including `revision`. */
  drop(revision: number): void {
    while (this.first <= Math.min(revision, this.#newest)) this.#shift();
    this.#floor = Math.max(this.#floor, revision);
    this.#sweep();
  }

  /** The values at `revision` of the keys that were written since. */
  overlayAt(revision: number, prefix: string): Overlay {
    const overlay = new Map<string, StoreEvent['previous']>();
    for (const event of this.after(revision)) {
      if (event.key.startsWith(prefix) && !overlay.has(event.key)) overlay.set(event.key, event.previous);
    }
    return overlay;
  }

  /** Binary search for the first event after a revision. */
  #indexAfter(revision: number): number {
    let low = this.#head;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#events[middle]?.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #trim(): void {
    while (this.#head < this.#events.length && this.#isOver()) this.#shift();
    this.#sweep();
  }

  #isOver(): boolean {
    return this.#events.length - this.#head > this.#limits.events || this.#bytes > this.#limits.bytes;
  }

  #shift(): void {
    const event = this.#events[this.#head];
    if (!event) return;
    this.#bytes -= cost(event);
    this.#floor = Math.max(this.#floor, event.revision);
    this.#events[this.#head] = undefined;
    this.#head += 1;
  }

  /** Closes the gap that what was forgotten has left, once it is the larger part. */
  #sweep(): void {
    if (this.#head < 1024 || this.#head * 2 < this.#events.length) return;
    this.#events = this.#events.slice(this.#head);
    this.#head = 0;
  }
}

/** A new store stands at 1, as etcd does: in the Kubernetes API the resourceVersion 0 means "any". */
export const firstRevision = 1;

function cost(event: StoreEvent): number {
  return eventBytes + (event.previous?.value.byteLength ?? 0);
}
