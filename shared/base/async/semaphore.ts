import { FairQueue, nobody, type Owner } from './fair-queue.ts';

/** Bounds concurrent work. Waiting owners take turns (`FairQueue`); the work of one owner starts in order. The caller bounds how much waits. */
export interface Semaphore {
  /** Number of slots. Raising it starts waiting work; lowering it stops nothing. */
  limit: number;
  /** Waits for a slot; the returned function frees it. Rejects with the signal's reason if that is aborted first. */
  acquire(signal?: AbortSignal, owner?: Owner): Promise<() => void>;
  /** Runs `work` in a slot. Rejects as `acquire` and `work` do. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal, owner?: Owner): Promise<T>;
}

/** Creates a Semaphore of `size` slots. */
export function createSemaphore(size: number): Semaphore {
  let limit = size;
  let running = 0;
  const waiting = new FairQueue<() => void, undefined>();

  const admit = () => {
    while (running < limit) {
      const [start] = waiting.dequeue() ?? [];
      if (start === undefined) return;
      running += 1;
      start();
    }
  };
  const release = () => {
    running -= 1;
    admit();
  };
  const acquire = async (signal?: AbortSignal, owner: Owner = nobody): Promise<() => void> => {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => {
      if (waiting.delete(resolve)) reject(signal?.reason);
    };
    signal?.addEventListener('abort', leave, { once: true });
    waiting.enqueue(resolve, owner, undefined);
    admit();
    try {
      await promise;
    } finally {
      signal?.removeEventListener('abort', leave);
    }
    return release;
  };
  return {
    get limit() {
      return limit;
    },
    set limit(next) {
      limit = next;
      admit();
    },
    acquire,
    async run(work, signal, owner) {
      const free = await acquire(signal, owner);
      try {
        return await work();
      } finally {
        free();
      }
    },
  };
}
