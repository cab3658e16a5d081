/** A capacity that namespaces share, so that none of them can use it up. */
export interface SharedCapacity {
  /** True if one more of the namespace may enter. */
  hasRoom(namespace: string): boolean;
  /** Counts one more. The returned function is called once, when it leaves. */
  enter(namespace: string): () => void;
  readonly used: number;
}

/**
 * A namespace may use as much as is free then (the dynamic threshold of shared buffers: Choudhury and Hahne, 1998), so one alone gets half of
 * `capacity`, two a third each. One that uses nothing has room even then, until twice the capacity is used: senders can make up namespaces.
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
