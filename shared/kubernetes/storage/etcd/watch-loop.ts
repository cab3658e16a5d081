import { createBackoff, pause } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { retryBackoff, type WatchBatch } from '../interface/store.ts';
import { closedDuringWatch } from '../memory/watchers.ts';
import { classifyFailure } from './failure.ts';
import type { WatchCursor } from './watch-cursor.ts';
import type { EtcdWire, WatchStream } from './wire.ts';

export interface WatchParts {
  wire: EtcdWire;
  /** Interval of progress requests of an idle watch in milliseconds. */
  progressInterval: number;
  /** Registry in which a connected watch adds its progress request, for immediate use. */
  progress: Set<() => void>;
  /** Timeout of the confirmation of a watch by etcd in milliseconds. */
  openTimeout: number;
  /** Aborted when the store is closed. */
  closed: AbortSignal;
}

/**
 * Yields all batches from the cursor, and reconnects as needed. Rejects only if the position is compacted, on a permanent failure, or when
 * the store is closed; waits while etcd is unavailable.
 */
export async function* watchEvents(
  parts: WatchParts,
  cursor: WatchCursor,
  signal: AbortSignal,
): AsyncGenerator<WatchBatch, void, undefined> {
  const backoff = createBackoff(retryBackoff);
  while (!signal.aborted) {
    if (parts.closed.aborted) throw closedDuringWatch();
    try {
      for await (const batch of followOnce(parts, cursor, signal)) {
        backoff.reset();
        yield batch;
      }
    } catch (caught) {
      if (!isResumable(caught)) throw classifyFailure(caught).error;
    }
    if (signal.aborted || parts.closed.aborted) continue;
    await pause(backoff.next(), [signal, parts.closed]);
  }
}

/** Tells whether the watch can be resumed. */
function isResumable(caught: unknown): boolean {
  return ArcError.is(caught, 'ServiceUnavailable') || classifyFailure(caught).retryable;
}

/** Watches over one connection. Returns without an error on abort and close. */
async function* followOnce(
  parts: WatchParts,
  cursor: WatchCursor,
  signal: AbortSignal,
): AsyncGenerator<WatchBatch, void, undefined> {
  const stream = await parts.wire.watch();
  const stop = () => stream.cancel();
  const isOver = () => signal.aborted || parts.closed.aborted;
  signal.addEventListener('abort', stop);
  parts.closed.addEventListener('abort', stop);
  const opening = setTimeout(stop, parts.openTimeout);
  const progress = new ProgressRequests(stream, parts);
  try {
    stream.send({ create_request: cursor.resume() });
    if (isOver()) return;
    for await (const message of stream) {
      if (isOver()) return;
      clearTimeout(opening);
      progress.busy();
      const batch = cursor.take(message);
      if (batch) yield batch;
      if (isOver()) return;
      progress.waiting();
    }
  } catch (caught) {
    if (!isOver()) throw caught;
  } finally {
    clearTimeout(opening);
    progress.end();
    signal.removeEventListener('abort', stop);
    parts.closed.removeEventListener('abort', stop);
    stream.cancel();
  }
}

/** Sends progress requests periodically while the consumer waits for a message, but not before the first message. */
class ProgressRequests {
  readonly #stream: WatchStream;
  readonly #all: Set<() => void>;
  readonly #timer: NodeJS.Timeout;
  #waiting = false;
  #wanted = false;

  constructor(stream: WatchStream, { progressInterval, progress }: WatchParts) {
    this.#stream = stream;
    this.#all = progress;
    this.#all.add(this.#request);
    this.#timer = setInterval(() => this.#waiting && this.#send(), progressInterval);
    this.#timer.unref();
  }

  /** Sends a request immediately, or as soon as the consumer waits. */
  readonly #request = (): void => {
    if (this.#waiting) this.#send();
    else this.#wanted = true;
  };

  #send(): void {
    this.#wanted = false;
    this.#stream.send({ progress_request: {} });
  }

  waiting(): void {
    this.#waiting = true;
    if (this.#wanted) this.#send();
  }

  busy(): void {
    this.#waiting = false;
  }

  end(): void {
    this.#all.delete(this.#request);
    clearInterval(this.#timer);
  }
}
