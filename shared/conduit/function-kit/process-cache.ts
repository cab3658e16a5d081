import type { Context } from '#shared/conduit/runtime';

/** Values that a process caches, by key. */
export interface ProcessCache<T> {
  get(context: Pick<Context, 'metrics'>, key: string): T | undefined;
  /** Drops the entries that were set longest ago beyond the capacity. */
  set(context: Pick<Context, 'metrics'>, key: string, value: T): void;
  delete(context: Pick<Context, 'metrics'>, key: string): void;
}

/** Creates a cache of `capacity` entries per process. A process is identified by its metrics, which are created once. */
export function createProcessCache<T>(capacity: number): ProcessCache<T> {
  const caches = new WeakMap<Context['metrics'], Map<string, T>>();
  return {
    get: ({ metrics }, key) => caches.get(metrics)?.get(key),
    set({ metrics }, key, value) {
      const entries = caches.get(metrics) ?? new Map<string, T>();
      caches.set(metrics, entries);
      entries.delete(key);
      entries.set(key, value);
      for (const oldest of [...entries.keys()].slice(0, -capacity)) entries.delete(oldest);
    },
    delete({ metrics }, key) {
      caches.get(metrics)?.delete(key);
    },
  };
}
