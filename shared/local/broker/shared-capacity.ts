/** A capacity shared by namespaces, so that none can use it up. */
export interface SharedCapacity {
  /** True if another entry of the namespace fits. */
  hasRoom(namespace: string): boolean;
  /** Adds an entry. Call the returned function once, when the entry leaves. */
  enter(namespace: string): () => void;
  readonly used: number;
}

/**
 * A namespace may use as much as is free at the time (the dynamic threshold of shared buffers: Choudhury and Hahne, 1998), so one alone gets half
 * of `capacity`, two get a third each. A namespace that uses nothing has room up to twice the capacity: senders can make up namespaces.
 */
export function createSharedCapacity(capacity: number): SharedCapacity {
  const counts = new Map<string, number>();
  let used = 0;
  return {
    get used() {
      return used;
    },
    hasRoom(namespace) {
      const own = counts.get(namespace) ?? 0;
      return own < capacity - used || (own === 0 && used < 2 * capacity);
    },
    enter(namespace) {
      counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
      used += 1;
      return () => {
        const left = (counts.get(namespace) ?? 0) - 1;
        if (left > 0) counts.set(namespace, left);
        else counts.delete(namespace);
        used -= 1;
      };
    },
  };
}
