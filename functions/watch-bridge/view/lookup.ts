import type { Observed } from './kept.ts';

/** The objects under one key; mostly a single object. */
type Group = Observed | { members: Map<string, Observed>; list?: readonly Observed[] };

/** An index of objects by keys, several objects per key, like client-go's Indexer. */
export class Lookup {
  readonly #groups = new Map<string, Group>();

  /** Puts the newest state of an object under these keys. */
  add(object: Observed, keys: readonly string[]): void {
    const { uid = '' } = object.metadata;
    for (const key of keys) {
      const group = this.#groups.get(key);
      if (group === undefined || isOnly(group, uid)) this.#groups.set(key, object);
      else if (isMany(group)) {
        group.members.set(uid, object);
        delete group.list;
      } else
        this.#groups.set(key, {
          members: new Map([
            [group.metadata.uid ?? '', group],
            [uid, object],
          ]),
        });
    }
  }

  /** @param keys all keys of the earlier state of the object */
  remove({ metadata: { uid = '' } }: Pick<Observed, 'metadata'>, keys: readonly string[]): void {
    for (const key of keys) {
      const group = this.#groups.get(key);
      if (group === undefined) continue;
      if (isOnly(group, uid)) this.#groups.delete(key);
      else if (isMany(group)) {
        group.members.delete(uid);
        delete group.list;
        if (group.members.size === 0) this.#groups.delete(key);
      }
    }
  }

  has(key: string): boolean {
    return this.#groups.has(key);
  }

  /** Returns the number of objects that `get` would return, without building a list. */
  count(key: string): number {
    const group = this.#groups.get(key);
    return group === undefined ? 0 : isMany(group) ? group.members.size : 1;
  }

  /** Returns the same array until an object under the key changes, appears or disappears. */
  get<T extends Observed>(key: string): readonly T[] {
    const group = this.#groups.get(key);
    if (group === undefined) return none;
    if (!isMany(group)) return [group as T];
    group.list ??= [...group.members.values()];
    return group.list as readonly T[];
  }
}

const none: readonly never[] = [];

function isMany(group: Group): group is Exclude<Group, Observed> {
  return 'members' in group;
}

function isOnly(group: Group, uid: string): boolean {
  return !isMany(group) && (group as Observed).metadata.uid === uid;
}
