/** The runs that wait for a free slot: first in, first out within a namespace, and round robin between namespaces. */
export interface Turns<T> {
  push(namespace: string, id: string, value: T): void;
  /** True if it was waiting. */
  remove(namespace: string, id: string): boolean;
  has(namespace: string, id: string): boolean;
  shift(): T | undefined;
  readonly size: number;
}

/** One namespace with a thousand runs does not make another one with a single run wait for all of them. */
export function createTurns<T>(): Turns<T> {
  // Insertion order of the outer map is the order of turns: who was served goes to the end.
  const lines = new Map<string, Map<string, T>>();
  let size = 0;
  return {
    push(namespace, id, value) {
      const line = lines.get(namespace) ?? new Map<string, T>();
      if (!line.has(id)) size += 1;
      line.set(id, value);
      lines.set(namespace, line);
    },
    remove(namespace, id) {
      const line = lines.get(namespace);
      const removed = line?.delete(id) ?? false;
      if (removed) size -= 1;
      if (line?.size === 0) lines.delete(namespace);
      return removed;
    },
    has: (namespace, id) => lines.get(namespace)?.has(id) ?? false,
    shift() {
      for (const [namespace, line] of lines) {
        for (const [id, value] of line) {
          line.delete(id);
          lines.delete(namespace);
          if (line.size > 0) lines.set(namespace, line);
          size -= 1;
          return value;
        }
      }
      return undefined;
    },
    get size() {
      return size;
    },
  };
}
