/** A loaded value and its TTL. 0: not cached. */
export interface Loaded<V> {
  value: V;
  ttlMs: number;
}

export interface ExpiringCache<V> {
  /** Returns the cached value of `key`, or loads it. Concurrent callers share a load. Failures are not cached. */
  get(key: string, load: () => Promise<Loaded<V>>): Promise<V>;
  readonly size: number;
}

interface Entry<V> {
  value: Promise<V>;
  until: number;
}

/** Creates a cache that evicts the oldest entries above `max`. @param now milliseconds of a monotonic clock */
export function createExpiringCache<V>(options: { max: number; now?: () => number }): ExpiringCache<V> {
  const { max, now = () => performance.now() } = options;
  const entries = new Map<string, Entry<V>>();

  const start = (key: string, load: () => Promise<Loaded<V>>): Promise<V> => {
    const entry: Entry<V> = {
      until: Number.POSITIVE_INFINITY,
      value: load().then(
        ({ value, ttlMs }) => {
          entry.until = now() + ttlMs;
          return value;
        },
        (caught: unknown) => {
          if (entries.get(key) === entry) entries.delete(key);
          throw caught;
        },
      ),
    };
    entries.delete(key); // moves the renewed entry to the end
    entries.set(key, entry);
    const oldest = entries.keys().next();
    if (entries.size > max && !oldest.done) entries.delete(oldest.value);
    return entry.value;
  };

  return {
    get(key, load) {
      const entry = entries.get(key);
      return entry !== undefined && now() < entry.until ? entry.value : start(key, load);
    },
    get size() {
      return entries.size;
    },
  };
}
