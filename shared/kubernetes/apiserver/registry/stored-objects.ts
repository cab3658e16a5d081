import type { ReadOptions, Store } from '#shared/kubernetes/storage';
import type { KindDefinition, KubeObject } from '../kinds/definition.ts';
import { objectKey } from './keys.ts';
import { decodeObject } from './stored-object.ts';

/** Reads what a server stores, for its own plug-ins: without authorization, and in the stored version. */
export interface StoredObjects {
  /** The object, or undefined; `namespace` is '' for a cluster-scoped kind. */
  get(
    group: string,
    plural: string,
    namespace: string,
    name: string,
    options?: ReadOptions,
  ): Promise<KubeObject | undefined>;
}

/** The objects of `kinds` in `store`. An object of another kind is never there. */
export function storedObjects(kinds: readonly KindDefinition[], store: Store): StoredObjects {
  const find = (group: string, plural: string) =>
    kinds.find((one) => one.group === group && one.plural === plural);
  return {
    async get(group, plural, namespace, name, options) {
      const kind = find(group, plural);
      if (kind === undefined) return undefined;
      const { item } = await store.get(objectKey(kind, namespace, name), options);
      return item && decodeObject(item);
    },
  };
}
