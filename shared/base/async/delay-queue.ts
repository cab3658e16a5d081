import type { Clock } from './clock.ts';

interface Slot {
  at: number;
  key: string;
}

/** A timer neither notices corrections of the clock nor holds more than 2^31 - 1 ms: later times are checked again after a minute. */
const longestTimer = 60_000;

/**
 * Values that become due at a time, one per key. A single timer serves all: a million entries cost a heap, not a million
 * timers. Bounded by the number of keys.
 */
export class DelayQueue<T> {
  readonly #clock: Clock;
  readonly #due: (key: string, value: T) => void;
  readonly #values = new Map<string, { at: number; value: T }>();
  /** A binary heap by time. Replaced and deleted entries stay until they surface and are then skipped. */
  #heap: Slot[] = [];
  #armedFor = Number.POSITIVE_INFINITY;
  #cancel: () => void = () => undefined;

  constructor(clock: Clock, due: (key: string, value: T) => void) {
    this.#clock = clock;
    this.#due = due;
  }

  get size(): number {
    return this.#values.size;
  }

  /** Returns when `key` is due (ms since the epoch); undefined if it is not waiting. */
  at(key: string): number | undefined {
    return this.#values.get(key)?.at;
  }

  get(key: string): T | undefined {
    return this.#values.get(key)?.value;
  }

  set(key: string, at: number, value: T): void {
    const known = this.#values.get(key);
    this.#values.set(key, { at, value });
    if (known?.at === at) return;
    this.#push({ at, key });
    if (this.#heap.length > 64 && this.#heap.length > 4 * this.#values.size) this.#compact();
    this.#arm();
  }

  delete(key: string): void {
    this.#values.delete(key);
  }

  close(): void {
    this.#cancel();
    this.#values.clear();
    this.#heap = [];
  }

  #arm(): void {
    const first = this.#heap[0];
    if (first === undefined || first.at >= this.#armedFor) return;
    this.#cancel();
    this.#armedFor = first.at;
    const wait = Math.min(Math.max(0, first.at - this.#clock.now()), longestTimer);
    this.#cancel = this.#clock.after(wait, () => this.#fire());
  }

  #fire(): void {
    this.#armedFor = Number.POSITIVE_INFINITY;
    const now = this.#clock.now();
    for (let first = this.#heap[0]; first !== undefined && first.at <= now; first = this.#heap[0]) {
      this.#pop();
      const entry = this.#values.get(first.key);
      if (entry?.at !== first.at) continue;
      this.#values.delete(first.key);
      this.#due(first.key, entry.value);
    }
    this.#arm();
  }

  #compact(): void {
    const slots = [...this.#values].map(([key, { at }]) => ({ at, key }));
    // An array sorted by time is a heap.
    this.#heap = slots.sort((a, b) => a.at - b.at);
  }

  #push(slot: Slot): void {
    const heap = this.#heap;
    let index = heap.push(slot) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || above.at <= slot.at) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = slot;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      const child = smallerChild(heap, index);
      const below = heap[child];
      if (below === undefined || below.at >= last.at) break;
      heap[index] = below;
      index = child;
    }
    heap[index] = last;
  }
}

function smallerChild(heap: readonly Slot[], index: number): number {
  const left = 2 * index + 1;
  const a = heap[left];
  const b = heap[left + 1];
  return a !== undefined && b !== undefined && b.at < a.at ? left + 1 : left;
}
