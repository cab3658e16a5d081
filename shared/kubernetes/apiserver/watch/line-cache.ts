/** Keeps the newest values for their keys, up to a number of bytes. */
export interface BoundedCache<K extends object, V> {
  get(key: K): V | undefined;
  /** @param bytes size of the value; a key set twice counts twice until it is evicted */
  set(key: K, value: V, bytes: number): void;
}

/**
 * A cache for the lines that many watches need of one event. They need them at nearly the same time, while the event itself
 * stays in the history: lines kept there would take more memory than the history.
 */
export function createBoundedCache<K extends object, V>(limitBytes: number): BoundedCache<K, V> {
  const values = new WeakMap<K, V>();
  /** In the order they were set; entries before `oldest` are evicted. */
  let queue: ({ key: K; bytes: number } | undefined)[] = [];
  let oldest = 0;
  let kept = 0;

  const evictOldest = () => {
    const first = queue[oldest];
    queue[oldest] = undefined;
    oldest += 1;
    if (first === undefined) return;
    values.delete(first.key);
    kept -= first.bytes;
  };
  const compact = () => {
    if (oldest < 1024 || oldest * 2 < queue.length) return;
    queue = queue.slice(oldest);
    oldest = 0;
  };
  return {
    get: (key) => values.get(key),
    set(key, value, bytes) {
      values.set(key, value);
      queue.push({ key, bytes });
      kept += bytes;
      while (kept > limitBytes && oldest < queue.length - 1) evictOldest();
      compact();
    },
  };
}
