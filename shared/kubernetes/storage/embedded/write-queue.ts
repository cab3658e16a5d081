import { setImmediate as nextTurn } from 'node:timers/promises';
import { ArcError } from '#shared/base/errors';
import type { WriteResult } from '../interface/store.ts';
import type { Write } from './decide.ts';

interface Waiting {
  write: Write;
  resolve: (result: WriteResult) => void;
  reject: (error: ArcError) => void;
}

const largestBatch = 1000;
const mostWaiting = 20_000;

/**
 * Group commit: writes that arrive while a batch is on its way to the disk travel together in the next one, so
 * that the cost of a flush is shared by all writers that wait for it.
 */
export class WriteQueue {
  readonly #commit: (writes: Write[]) => Promise<WriteResult[]>;
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;
  #closed = false;

  /** `commit` answers one result for each write, or rejects for all of them. */
  constructor(commit: (writes: Write[]) => Promise<WriteResult[]>) {
    this.#commit = commit;
  }

  /** Resolves when the write, or what stood in its way, is on disk. */
  add(write: Write): Promise<WriteResult> {
    if (this.#closed) return Promise.reject(new ArcError('ServiceUnavailable', 'the store is closed'));
    if (this.#waiting.length >= mostWaiting) {
      return Promise.reject(
        new ArcError('ServiceUnavailable', `${mostWaiting} writes wait for the disk already`),
      );
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ write, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Takes no more writes and resolves when those taken have been answered. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    // Requests that came in with the same turn of the event loop are to share a batch.
    await nextTurn();
    while (this.#waiting.length > 0) await this.#runBatch(this.#waiting.splice(0, largestBatch));
    this.#running = undefined;
  }

  async #runBatch(batch: Waiting[]): Promise<void> {
    try {
      const results = await this.#commit(batch.map(({ write }) => write));
      for (const [at, { resolve, reject }] of batch.entries()) {
        const result = results[at];
        if (result) resolve(result);
        else reject(new ArcError('InternalError', 'the store lost the answer to a write'));
      }
    } catch (caught) {
      const error = ArcError.from(caught, 'ServiceUnavailable');
      for (const { reject } of batch) reject(error);
    }
  }
}
