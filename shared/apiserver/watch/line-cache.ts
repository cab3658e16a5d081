/** Values made for objects that others may ask for in a moment: the newest of them, so many bytes and no more. */
export interface BoundedCache<K extends object, V> {
  get(key: K): V | undefined;
  /** `bytes` is what it costs to keep the value. A value set twice is counted twice until it is forgotten. */
  set(key: K, value: V, bytes: number): void;
}

/**
 * A cache for what many watchers need of one event. They ask within moments of each other, while the event itself stays in
 * the history for long: kept with it, the values would cost more than the history.
 */
export function createBoundedCache<K extends object, V>(limitBytes: number): BoundedCache<K, V> {
  const values = new WeakMap<K, V>();
  /** In the order they were set; what stands before `oldest` is forgotten. */
  let queue: ({ key: K; bytes: number } | undefined)[] = [];
  let oldest = 0;
  let kept = 0;

  const forgetOldest = () => {
    const first = queue[oldest];
    queue[oldest] = undefined;
    oldest += 1;
    if (first === undefined) return;
    values.delete(first.key);
    kept -= first.bytes;
  };
  const sweep = () => {
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
      while (kept > limitBytes && oldest < queue.length - 1) forgetOldest();
      sweep();
    },
  };
}
