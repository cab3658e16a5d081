import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { ArcError } from '#shared/base/errors';
import type { WriteResult } from '../interface/store.ts';
import type { Write } from './decide.ts';

interface QueuedWrite {
  write: Write;
  resolve: (result: WriteResult) => void;
  reject: (error: ArcError) => void;
}

const maxBatch = 1000;
const maxQueued = 20_000;

/**
 * Group commit: writes that arrive while a batch is being flushed form the next batch, so that they share the cost of a flush.
 */
export class WriteQueue {
  readonly #commit: (writes: Write[]) => Promise<WriteResult[]>;
  #queue: QueuedWrite[] = [];
  #running: Promise<void> | undefined;
  #closed = false;

  /** @param commit resolves with one result per write, or rejects for the whole batch */
  constructor(commit: (writes: Write[]) => Promise<WriteResult[]>) {
    this.#commit = commit;
  }

  /** Resolves when the write, or the write that it conflicts with, is on disk. */
  add(write: Write): Promise<WriteResult> {
    if (this.#closed) return Promise.reject(new ArcError('ServiceUnavailable', 'the store is closed'));
    if (this.#queue.length >= maxQueued) {
      return Promise.reject(
        new ArcError('ServiceUnavailable', `the write queue is full (${maxQueued} writes)`),
      );
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ write, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Rejects new writes and resolves when the queued writes are finished. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    // Writes from the same turn of the event loop share a batch.
    await yieldToEventLoop();
    while (this.#queue.length > 0) await this.#runBatch(this.#queue.splice(0, maxBatch));
    this.#running = undefined;
  }

  async #runBatch(batch: QueuedWrite[]): Promise<void> {
    try {
      const results = await this.#commit(batch.map(({ write }) => write));
      for (const [at, { resolve, reject }] of batch.entries()) {
        const result = results[at];
        if (result) resolve(result);
        else reject(new ArcError('InternalError', 'the result of a write is missing'));
      }
    } catch (caught) {
      const error = ArcError.from(caught, 'ServiceUnavailable');
      for (const { reject } of batch) reject(error);
    }
  }
}
