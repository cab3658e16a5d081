import { IdList } from '../objects/id-list.ts';
import type { Id } from '../objects/object-table.ts';

/** Objects that have all their keys in common. */
interface Group {
  keys: readonly string[];
  ids: IdList;
}

/**
 * Objects by keys, as an index of client-go's Indexer; for keys that are few or have few objects. Very many objects have the same keys, as
 * the Orders of a namespace do: such a group is under each of its keys once, and an object in one group.
 */
export class Relation {
  readonly #groups = new Map<string, Group>();
  readonly #byKey = new Map<string, Set<Group>>();

  /** @param keys all that the object has */
  add(keys: readonly string[], id: Id): void {
    if (keys.length === 0) return;
    const name = nameOf(keys);
    const known = this.#groups.get(name);
    if (known !== undefined) {
      known.ids.add(id);
      return;
    }
    const group = { keys, ids: new IdList() };
    group.ids.add(id);
    this.#groups.set(name, group);
    for (const key of keys) {
      const groups = this.#byKey.get(key);
      if (groups === undefined) this.#byKey.set(key, new Set([group]));
      else groups.add(group);
    }
  }

  /** @param keys those that it was added with */
  delete(keys: readonly string[], id: Id): void {
    const name = nameOf(keys);
    const group = this.#groups.get(name);
    if (!group?.ids.delete(id) || group.ids.size > 0) return;
    this.#groups.delete(name);
    for (const key of keys) {
      const groups = this.#byKey.get(key);
      groups?.delete(group);
      if (groups?.size === 0) this.#byKey.delete(key);
    }
  }

  *get(key: string): Iterable<Id> {
    for (const { ids } of this.#byKey.get(key) ?? []) yield* ids;
  }

  keys(): Iterable<string> {
    return this.#byKey.keys();
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }
}

function nameOf(keys: readonly string[]): string {
  return keys.join('\n');
}
