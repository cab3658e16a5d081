/**
 * A capacity shared by namespaces, so that none can use it up. A namespace may use as much as is free at the time (the dynamic threshold of
 * shared buffers: Choudhury and Hahne, 1998), so one alone gets half of the capacity, two get a third each.
 */
export class SharedCapacity {
  /** Lowering the capacity removes no entry. */
  capacity: number;
  readonly #most: number | undefined;
  readonly #counts = new Map<string, number>();
  #used = 0;

  /** `most`: entries of all namespaces up to which a namespace that has none may enter one; default `capacity`. */
  constructor(capacity: number, most?: number) {
    this.capacity = capacity;
    this.#most = most;
  }

  get used(): number {
    return this.#used;
  }

  /** True if another entry of the namespace fits. */
  hasRoom(namespace: string): boolean {
    const own = this.#counts.get(namespace) ?? 0;
    return own < this.capacity - this.#used || (own === 0 && this.#used < (this.#most ?? this.capacity));
  }

  /** Adds an entry. Call the returned function once, when the entry leaves. */
  enter(namespace: string): () => void {
    this.#counts.set(namespace, (this.#counts.get(namespace) ?? 0) + 1);
    this.#used += 1;
    return () => {
      const left = (this.#counts.get(namespace) ?? 0) - 1;
      if (left > 0) this.#counts.set(namespace, left);
      else this.#counts.delete(namespace);
      this.#used -= 1;
    };
  }
}
