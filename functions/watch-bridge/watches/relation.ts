import type { Id } from '../objects/object-table.ts';

/** Objects by keys, as an index of client-go's Indexer; for keys that are few or have few objects. */
export class Relation {
  readonly #byKey = new Map<string, Set<Id>>();

  add(keys: Iterable<string>, id: Id): void {
    for (const key of keys) {
      const known = this.#byKey.get(key);
      if (known === undefined) this.#byKey.set(key, new Set([id]));
      else known.add(id);
    }
  }

  delete(keys: Iterable<string>, id: Id): void {
    for (const key of keys) {
      const known = this.#byKey.get(key);
      known?.delete(id);
      if (known?.size === 0) this.#byKey.delete(key);
    }
  }

  get(key: string): Iterable<Id> {
    return this.#byKey.get(key) ?? [];
  }

  keys(): Iterable<string> {
    return this.#byKey.keys();
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }
}
