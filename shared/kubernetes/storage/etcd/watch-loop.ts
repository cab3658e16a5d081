import { createBackoff, pause } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { retryWaits, type WatchBatch } from '../interface/store.ts';
import { closedWhileWatched } from '../memory/watchers.ts';
import { classifyFailure } from './failure.ts';
import type { WatchCursor } from './watch-cursor.ts';
import type { EtcdWire, WatchStream } from './wire.ts';

export interface WatchParts {
  wire: EtcdWire;
  /** ms between the questions for progress of a watch that has nothing to tell. */
  progressInterval: number;
  /** Where a connected watch leaves what asks for its progress, for those who cannot wait for the interval. */
  progress: Set<() => void>;
  /** ms until etcd has to confirm a watch. */
  openTimeout: number;
  /** Aborted when the store is closed. */
  closed: AbortSignal;
}

/**
 * All batches from the cursor on, over as many connections as it takes. Only a compacted position, a refusal for good
 * and the closing of the store end it early; while etcd is away it waits.
 */
export async function* watchEvents(
  parts: WatchParts,
  cursor: WatchCursor,
  signal: AbortSignal,
): AsyncGenerator<WatchBatch, void, undefined> {
  const backoff = createBackoff(retryWaits);
  while (!signal.aborted) {
    if (parts.closed.aborted) throw closedWhileWatched();
    try {
      for await (const batch of followOnce(parts, cursor, signal)) {
        backoff.reset();
        yield batch;
      }
    } catch (caught) {
      if (!isPassing(caught)) throw classifyFailure(caught).error;
    }
    if (signal.aborted || parts.closed.aborted) continue;
    await pause(backoff.next(), [signal, parts.closed]);
  }
}

/** A watch that etcd ended without saying Expired can be asked for again. */
function isPassing(caught: unknown): boolean {
  return ArcError.is(caught, 'ServiceUnavailable') || classifyFailure(caught).passing;
}

/** The watch over one connection; ends without an error when it is no longer wanted. */
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
  const progress = new ProgressQuestions(stream, parts);
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

/** Asks for progress now and then while the consumer waits for the next message, and never before the first one. */
class ProgressQuestions {
  readonly #stream: WatchStream;
  readonly #all: Set<() => void>;
  readonly #timer: NodeJS.Timeout;
  #waiting = false;
  #wanted = false;

  constructor(stream: WatchStream, { progressInterval, progress }: WatchParts) {
    this.#stream = stream;
    this.#all = progress;
    this.#all.add(this.#want);
    this.#timer = setInterval(() => this.#waiting && this.#ask(), progressInterval);
    this.#timer.unref();
  }

  /** At once, or as soon as the consumer waits. */
  readonly #want = (): void => {
    if (this.#waiting) this.#ask();
    else this.#wanted = true;
  };

  #ask(): void {
    this.#wanted = false;
    this.#stream.send({ progress_request: {} });
  }

  waiting(): void {
    this.#waiting = true;
    if (this.#wanted) this.#ask();
  }

  busy(): void {
    this.#waiting = false;
  }

  end(): void {
    this.#all.delete(this.#want);
    clearInterval(this.#timer);
  }
}
