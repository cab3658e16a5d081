import { ArcError } from '#shared/base/errors';
import type { StoreEvent, WatchBatch, WatchOptions } from '../interface/store.ts';
import type { History } from './history.ts';

/** A watch is a position in the history; pending events are not copied. */
interface Watcher {
  prefix: string;
  /** All events under the prefix up to this revision are delivered. */
  position: number;
  /** The last revision reported to the consumer. */
  reported: number;
  /** True if there may be events after the position. If false, publish() advances the position. */
  pending: boolean;
  progressDue: boolean;
  /** Wakes the waiting consumer, if it waits. */
  wake: (() => void) | undefined;
}

const batchEvents = 500;
/** Size limit of a batch, which bounds the memory of a slow reader; its pending events are in the shared history. */
const batchBytes = 512 * 1024;

/** The watches of a store: dispatches events of the history and progress notifications. */
export class Watchers {
  readonly #history: History;
  readonly #progressInterval: number;
  readonly #watchers = new Set<Watcher>();
  /** Timer of progress notifications for all watches. */
  #timer: NodeJS.Timeout | undefined;
  #closed: ArcError | undefined;

  /** @param progressInterval milliseconds between progress notifications to a watch without events */
  constructor(history: History, progressInterval: number) {
    this.#history = history;
    this.#progressInterval = progressInterval;
  }

  /** See Store.watch. */
  async *watch(prefix: string, options: WatchOptions): AsyncGenerator<WatchBatch, void, undefined> {
    const { after, signal } = options;
    const pending = after < this.#history.newest;
    const start = { position: after, reported: after, pending };
    const watcher: Watcher = { prefix, ...start, progressDue: false, wake: undefined };
    const stop = () => wake(watcher);
    signal.addEventListener('abort', stop);
    this.#add(watcher);
    try {
      while (!signal.aborted) {
        const batch = this.#take(watcher);
        if (batch) yield batch;
        else await idle(watcher);
      }
    } finally {
      this.#remove(watcher);
      signal.removeEventListener('abort', stop);
    }
  }

  /** Dispatches events just appended to the history; without events, advances the positions. */
  publish(events: readonly StoreEvent[]): void {
    for (const watcher of this.#watchers) {
      // The next batch of the watcher includes these events.
      if (watcher.pending) continue;
      const match = events.find(
        (event) => event.revision > watcher.position && event.key.startsWith(watcher.prefix),
      );
      const position = match ? match.revision - 1 : this.#history.newest;
      watcher.position = Math.max(watcher.position, position);
      if (!match) continue;
      watcher.pending = true;
      wake(watcher);
    }
  }

  /** Rejects all current and future watches with `reason`. */
  close(reason: ArcError): void {
    this.#closed = reason;
    for (const watcher of this.#watchers) wake(watcher);
  }

  /** Sends progress notifications to waiting consumers that are behind. */
  reportProgress(): void {
    for (const watcher of this.#watchers) {
      if (!watcher.wake || watcher.position <= watcher.reported) continue;
      watcher.progressDue = true;
      wake(watcher);
    }
  }

  #take(watcher: Watcher): WatchBatch | undefined {
    if (this.#closed) throw this.#closed;
    if (watcher.pending) {
      const events = this.#collect(watcher);
      if (events.length > 0) return report(watcher, events);
    }
    if (!watcher.progressDue) return undefined;
    watcher.progressDue = false;
    return watcher.position > watcher.reported ? report(watcher, []) : undefined;
  }

  /** Returns the next batch of events and advances the position. */
  #collect(watcher: Watcher): StoreEvent[] {
    const { floor, newest } = this.#history;
    if (watcher.position < floor) {
      const message = `revision ${watcher.position} is compacted: the oldest that can be watched from is ${floor}; list again`;
      throw new ArcError('Expired', message);
    }
    const events: StoreEvent[] = [];
    let last = watcher.position;
    let bytes = 0;
    for (const entry of this.#history.after(watcher.position)) {
      // The events of a revision must be in the same batch: the position is a revision.
      const isFull = events.length >= batchEvents || bytes >= batchBytes;
      if (isFull && entry.revision > last) {
        watcher.position = last;
        return events;
      }
      last = entry.revision;
      if (!entry.key.startsWith(watcher.prefix)) continue;
      const event = this.#history.eventOf(entry);
      events.push(event);
      bytes += (event.type === 'put' ? event.value.byteLength : 0) + (event.previous?.value.byteLength ?? 0);
    }
    watcher.position = newest;
    watcher.pending = false;
    return events;
  }

  #add(watcher: Watcher): void {
    this.#watchers.add(watcher);
    this.#timer ??= setInterval(() => this.reportProgress(), this.#progressInterval).unref();
  }

  #remove(watcher: Watcher): void {
    this.#watchers.delete(watcher);
    if (this.#watchers.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

export function closedDuringWatch(): ArcError {
  return new ArcError('ServiceUnavailable', 'the store was closed during a watch');
}

function report(watcher: Watcher, events: StoreEvent[]): WatchBatch {
  watcher.reported = watcher.position;
  return { events, revision: watcher.position };
}

function idle(watcher: Watcher): Promise<void> {
  return new Promise((resolve) => {
    watcher.wake = resolve;
  });
}

function wake(watcher: Watcher): void {
  watcher.wake?.();
  watcher.wake = undefined;
}
