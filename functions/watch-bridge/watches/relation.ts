/** Objects by keys, as an index of client-go's Indexer: an object may have several keys, and its newest state replaces all of them. */
export class Relation<T> {
  readonly #byKey = new Map<string, Map<string, T>>();
  readonly #keysOf = new Map<string, readonly string[]>();

  set(uid: string, object: T, keys: readonly string[]): void {
    this.delete(uid);
    if (keys.length === 0) return;
    this.#keysOf.set(uid, keys);
    for (const key of keys) {
      const known = this.#byKey.get(key);
      if (known === undefined) this.#byKey.set(key, new Map([[uid, object]]));
      else known.set(uid, object);
    }
  }

  delete(uid: string): void {
    for (const key of this.#keysOf.get(uid) ?? []) {
      const known = this.#byKey.get(key);
      known?.delete(uid);
      if (known?.size === 0) this.#byKey.delete(key);
    }
    this.#keysOf.delete(uid);
  }

  get(key: string): Iterable<T> {
    return this.#byKey.get(key)?.values() ?? [];
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }
}
