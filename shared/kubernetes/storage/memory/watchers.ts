import { ArcError } from '#shared/base/errors';
import type { StoreEvent, WatchBatch, WatchOptions } from '../interface/store.ts';
import type { History } from './history.ts';

/** A watch is a position in the history; what it has yet to see is never copied. */
interface Watcher {
  prefix: string;
  /** Everything under the prefix up to this revision was handed out. */
  position: number;
  /** The last revision that was reported to the consumer. */
  reported: number;
  /** True if there may be events after the position. False: publish() keeps the position current. */
  pending: boolean;
  progressDue: boolean;
  /** Set while the consumer waits. */
  wake: (() => void) | undefined;
}

const batchEvents = 500;
/** Bytes of values, so that a watch whose reader is slow keeps little: what it has yet to see is in the history, which all share. */
const batchBytes = 512 * 1024;

/** All watches of one store: who has to see which event of the history, and when to report progress. */
export class Watchers {
  readonly #history: History;
  readonly #progressInterval: number;
  readonly #watchers = new Set<Watcher>();
  /** One for all watches. */
  #timer: NodeJS.Timeout | undefined;
  #closed: ArcError | undefined;

  /** `progressInterval`: ms between progress batches to a watch that has no events of its own. */
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

  /** Tells the watches of events, or of progress without any, that were just appended to the history. */
  publish(events: readonly StoreEvent[]): void {
    for (const watcher of this.#watchers) {
      // Its next batch starts before these events and will find them.
      if (watcher.pending) continue;
      const hit = events.find(
        (event) => event.revision > watcher.position && event.key.startsWith(watcher.prefix),
      );
      const seen = hit ? hit.revision - 1 : this.#history.newest;
      watcher.position = Math.max(watcher.position, seen);
      if (!hit) continue;
      watcher.pending = true;
      wake(watcher);
    }
  }

  /** Ends every watch, now and later, with `reason`. */
  close(reason: ArcError): void {
    this.#closed = reason;
    for (const watcher of this.#watchers) wake(watcher);
  }

  /** Tells waiting consumers how far the store has come without them. */
  remind(): void {
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

  /** Moves the position over what is new, at most one batch of it. */
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
      // The events of one revision stay together: the position cannot stand between them.
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
    this.#timer ??= setInterval(() => this.remind(), this.#progressInterval).unref();
  }

  #remove(watcher: Watcher): void {
    this.#watchers.delete(watcher);
    if (this.#watchers.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

export function closedWhileWatched(): ArcError {
  return new ArcError('ServiceUnavailable', 'the store was closed while it was watched');
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
