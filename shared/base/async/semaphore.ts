import { FairQueue, nobody, type Owner } from './fair-queue.ts';
import { SharedCapacity } from './shared-capacity.ts';

/**
 * Bounds concurrent work. Waiting owners take turns (`FairQueue`), and a namespace has at most as many slots as are free (`SharedCapacity`); the
 * work of one owner starts in order. Work without an owner may take every slot. The caller bounds how much waits.
 */
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
  const slots = new SharedCapacity(size);
  const waiting = new FairQueue<(free: () => void) => void, string>();

  const mayStart = (namespace: string) => namespace === nobody.namespace || slots.hasRoom(namespace);
  const admit = () => {
    while (slots.used < slots.capacity) {
      const [start, namespace] = waiting.dequeue(mayStart) ?? [];
      if (start === undefined || namespace === undefined) return;
      const leave = slots.enter(namespace);
      start(() => {
        leave();
        admit();
      });
    }
  };
  const acquire = async (signal?: AbortSignal, owner: Owner = nobody): Promise<() => void> => {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const leave = () => {
      if (waiting.delete(resolve)) reject(signal?.reason);
    };
    signal?.addEventListener('abort', leave, { once: true });
    waiting.enqueue(resolve, owner, owner.namespace);
    admit();
    try {
      return await promise;
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  };
  return {
    get limit() {
      return slots.capacity;
    },
    set limit(next) {
      slots.capacity = next;
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
