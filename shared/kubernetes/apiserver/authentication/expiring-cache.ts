/** A loaded value and how long it may be cached. 0: it is not cached. */
export interface Loaded<V> {
  value: V;
  ttlMs: number;
}

export interface ExpiringCache<V> {
  /** The value of `key`, loaded if it is absent or expired; concurrent callers share one load. Failures are not cached. */
  get(key: string, load: () => Promise<Loaded<V>>): Promise<V>;
  readonly size: number;
}

interface Entry<V> {
  value: Promise<V>;
  until: number;
}

/** Keeps at most `max` entries and evicts the oldest. @param now milliseconds of a monotonic clock */
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
    entries.delete(key); // so that the renewed entry is the youngest
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
