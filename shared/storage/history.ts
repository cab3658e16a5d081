import type { Overlay } from './items.ts';
import type { StoreEvent } from './store.ts';

/** How much of the past is kept: events, and bytes of the values they replaced. */
export interface HistoryLimits {
  events: number;
  bytes: number;
}

/** What an event costs beyond the value it replaced: its own fields and its key. */
const eventBytes = 200;

/**
 * The newest events, one for every revision without a gap, bounded by count and bytes. It is the only buffer that
 * watches have: a watcher is a position in it, so 200 watchers share the event objects.
 */
export class History {
  readonly #limits: HistoryLimits;
  #events: (StoreEvent | undefined)[];
  /** Index in #events of the oldest event kept; what stands before it is forgotten and swept away in bulk. */
  #head = 0;
  #first: number;
  #floor: number;
  #bytes: number;

  /** `events` are those of revisions `first`, `first` + 1, ...; the revision before `first` is the newest if empty. */
  constructor(limits: HistoryLimits, first: number, events: readonly StoreEvent[] = []) {
    this.#limits = limits;
    this.#events = [...events];
    this.#first = first;
    this.#floor = first <= firstRevision + 1 ? 0 : first - 1;
    this.#bytes = events.reduce((sum, event) => sum + cost(event), 0);
    this.#trim();
  }

  /** The revision of the oldest event kept, or the next one to come. */
  get first(): number {
    return this.#first;
  }

  /** The newest revision. */
  get newest(): number {
    return this.#first + (this.#events.length - this.#head) - 1;
  }

  /** The oldest revision that can be read at or watched from. */
  get floor(): number {
    return this.#floor;
  }

  at(revision: number): StoreEvent | undefined {
    return revision < this.#first ? undefined : this.#events[this.#head + revision - this.#first];
  }

  append(events: readonly StoreEvent[]): void {
    for (const event of events) {
      this.#events.push(event);
      this.#bytes += cost(event);
    }
    this.#trim();
  }

  /** Forgets events up to and including `revision`. */
  drop(revision: number): void {
    while (this.#first <= Math.min(revision, this.newest)) this.#shift();
    this.#floor = Math.max(this.#floor, revision);
    this.#sweep();
  }

  /** What the keys written since `revision` held at that time. */
  overlayAt(revision: number, prefix: string): Overlay {
    const overlay = new Map<string, StoreEvent['previous']>();
    for (let at = revision + 1; at <= this.newest; at += 1) {
      const event = this.at(at);
      if (event?.key.startsWith(prefix) && !overlay.has(event.key)) overlay.set(event.key, event.previous);
    }
    return overlay;
  }

  #trim(): void {
    while (this.newest >= this.#first && this.#isOver()) this.#shift();
    this.#sweep();
  }

  #isOver(): boolean {
    return this.newest - this.#first + 1 > this.#limits.events || this.#bytes > this.#limits.bytes;
  }

  #shift(): void {
    const event = this.#events[this.#head];
    if (event) this.#bytes -= cost(event);
    this.#events[this.#head] = undefined;
    this.#head += 1;
    this.#floor = this.#first;
    this.#first += 1;
  }

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
