import type { KubeObject } from '#shared/base/meta';
import type { Kind } from './client.ts';

/** A change of one object. `before` is the kept part of the previous state, `after` the whole new state. */
export type Change<T extends KubeObject, K = T> =
  | { type: 'added'; after: T; before?: undefined }
  | { type: 'modified'; before: K; after: T }
  | { type: 'deleted'; before: K; after?: undefined };

export interface Known<K> {
  uid: string;
  resourceVersion: string;
  value: K;
}

/** The storage of kept parts, by `<namespace>/<name>`, or name for cluster-scoped kinds. A Map is one. */
export interface KnownStates<K> {
  get(key: string): Known<K> | undefined;
  set(key: string, known: Known<K>): unknown;
  delete(key: string): unknown;
  entries(): Iterable<[string, Known<K>]>;
}

/** The last observed objects of a kind, which computes changes from new states. */
export interface KnownObjects<T extends KubeObject, K> {
  /** Stores a state. Returns no change if uid and resourceVersion are known already. */
  put(object: T): Change<T, K>[];
  /** Removes an object. @param object its last state */
  remove(object: T): Change<T, K>[];
  /**
   * Removes every object that is not in `keys`, the keys of a complete list. Yields once per object, undefined for a retained one, so that the
   * caller can yield to the event loop.
   */
  retain(keys: ReadonlySet<string>): Iterable<Change<T, K> | undefined>;
  keyOf(object: T): string;
  get(namespace: string | undefined, name: string): K | undefined;
  values(): IterableIterator<K>;
  readonly size: number;
}

/**
 * Creates an empty collection. `keep` returns the part of an object to keep: a projection bounds the memory for a kind with many objects. If it
 * returns undefined the object is forgotten: its next state counts as added, and its deletion is not reported. `all` is the empty storage.
 */
export function createKnownObjects<T extends KubeObject, K>(
  kind: Kind<T>,
  keep: (object: T) => K | undefined,
  all: KnownStates<K> = new Map<string, Known<K>>(),
): KnownObjects<T, K> {
  let size = 0;
  const key = (namespace: string | undefined, name: string) =>
    kind.namespaced ? `${namespace ?? ''}/${name}` : name;
  const keyOf = (object: T) => key(object.metadata.namespace, object.metadata.name);

  return {
    keyOf,
    put(object) {
      const at = keyOf(object);
      const { uid = '', resourceVersion = '' } = object.metadata;
      const known = all.get(at);
      // Servers resend states (argo-events#1404 and watch resumption): the same version is not a change.
      if (known?.uid === uid && known.resourceVersion === resourceVersion) return [];
      const value = keep(object);
      if (value === undefined) all.delete(at);
      else all.set(at, { uid, resourceVersion, value });
      size += Number(value !== undefined) - Number(known !== undefined);
      if (known === undefined) return [{ type: 'added', after: object }];
      if (known.uid === uid) return [{ type: 'modified', before: known.value, after: object }];
      // Another object of the same name: the deletion of the earlier one was missed.
      return [
        { type: 'deleted', before: known.value },
        { type: 'added', after: object },
      ];
    },
    remove(object) {
      const at = keyOf(object);
      const known = all.get(at);
      if (known === undefined || known.uid !== (object.metadata.uid ?? '')) return [];
      all.delete(at);
      size -= 1;
      return [{ type: 'deleted', before: keep(object) ?? known.value }];
    },
    *retain(keys) {
      for (const [at, known] of all.entries()) {
        const isGone = !keys.has(at);
        if (isGone) {
          all.delete(at);
          size -= 1;
        }
        yield isGone ? { type: 'deleted', before: known.value } : undefined;
      }
    },
    get: (namespace, name) => all.get(key(namespace, name))?.value,
    *values() {
      for (const [, known] of all.entries()) yield known.value;
    },
    get size() {
      return size;
    },
  };
}
