/** Bounds how much work runs at a time. Work that waits starts in the order it came; the caller bounds how much waits. */
export interface Semaphore {
  /** How many may run at a time. Raising it starts what waits; lowering it stops nothing. */
  limit: number;
  /** Waits for a slot; the returned function frees it. Rejects with the signal's reason if that is aborted first. */
  acquire(signal?: AbortSignal): Promise<() => void>;
  /** Runs `work` in a slot. Rejects as `acquire` and `work` do. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** A Semaphore of `size` slots. */
export function createSemaphore(size: number): Semaphore {
  let limit = size;
  let running = 0;
  const waiting = new Set<() => void>();

  const admit = () => {
    for (const start of waiting) {
      if (running >= limit) return;
      waiting.delete(start);
      running += 1;
      start();
    }
  };
  const release = () => {
    running -= 1;
    admit();
  };
  const acquire = async (signal?: AbortSignal): Promise<() => void> => {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => {
      if (waiting.delete(resolve)) reject(signal?.reason);
    };
    signal?.addEventListener('abort', leave, { once: true });
    waiting.add(resolve);
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
    async run(work, signal) {
      const free = await acquire(signal);
      try {
        return await work();
      } finally {
        free();
      }
    },
  };
}
