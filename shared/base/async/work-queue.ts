import { backoffMs } from './backoff.ts';
import { pause } from './pause.ts';

export interface WorkQueue {
  /** Adds `key`; a waiting key is processed once. */
  add(key: string): void;
  /** Ends when the signal is aborted. */
  readonly done: Promise<void>;
}

export interface WorkQueueOptions {
  workers: number;
  signal: AbortSignal;
  random?: () => number;
  /** Called for each failure. The key is then retried with backoff. */
  onFailure(key: string, caught: unknown): void;
}

/**
 * Processes keys, several in parallel but never one key twice at once. A key that is added while it is processed is processed again
 * afterwards. Holds at most one entry per key.
 */
export function createWorkQueue(work: (key: string) => Promise<void>, options: WorkQueueOptions): WorkQueue {
  const { signal, random = Math.random } = options;
  const waiting = new Set<string>();
  const running = new Set<string>();
  const failures = new Map<string, number>();
  let idle: (() => void)[] = [];

  const add = (key: string) => {
    waiting.add(key);
    idle.shift()?.();
  };
  const take = (): string | undefined => {
    for (const key of waiting) {
      if (running.has(key)) continue;
      waiting.delete(key);
      return key;
    }
    return undefined;
  };
  const retry = async (key: string) => {
    const failed = (failures.get(key) ?? 0) + 1;
    failures.set(key, failed);
    await pause(backoffMs(failed, { random }), signal);
    if (!signal.aborted) add(key);
  };
  const worker = async () => {
    while (!signal.aborted) {
      const key = take();
      if (key === undefined) {
        await new Promise<void>((resolve) => idle.push(resolve));
        continue;
      }
      running.add(key);
      try {
        await work(key);
        failures.delete(key);
      } catch (caught) {
        if (signal.aborted) return;
        options.onFailure(key, caught);
        void retry(key);
      } finally {
        running.delete(key);
        // A worker that skipped this key because it was in progress may be idle.
        if (waiting.has(key)) idle.shift()?.();
      }
    }
  };
  const release = () => {
    for (const wake of idle) wake();
    idle = [];
  };
  signal.addEventListener('abort', release, { once: true });
  const done = Promise.all(Array.from({ length: options.workers }, worker)).then(() => undefined);
  return { add, done };
}
