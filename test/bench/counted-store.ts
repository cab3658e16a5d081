import type { Store } from '#shared/storage';

/** How often a store was written to, and with how many bytes of values. */
export interface WriteCount {
  writes: number;
  bytes: number;
}

/** The same store, with its successful writes counted. */
export function countWrites(store: Store): { store: Store; count: WriteCount } {
  const count = { writes: 0, bytes: 0 };
  const counted = async <T extends { ok: boolean }>(bytes: number, write: Promise<T>): Promise<T> => {
    const result = await write;
    if (result.ok) {
      count.writes += 1;
      count.bytes += bytes;
    }
    return result;
  };
  return {
    count,
    store: {
      get: (key, options) => store.get(key, options),
      list: (prefix, options) => store.list(prefix, options),
      watch: (prefix, options) => store.watch(prefix, options),
      revision: () => store.revision(),
      requestProgress: () => store.requestProgress(),
      get synced() {
        return store.synced;
      },
      compact: (revision) => store.compact(revision),
      close: () => store.close(),
      create: (key, value) => counted(value.byteLength, store.create(key, value)),
      update: (key, value, expected) => counted(value.byteLength, store.update(key, value, expected)),
      delete: (key, expected) => counted(0, store.delete(key, expected)),
    },
  };
}
