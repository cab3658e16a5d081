import type { KindDefinition } from '../kinds/definition.ts';
import type { Selection } from './selectors.ts';

/** Returns the key prefix of a group. */
export function storagePrefix(group: string): string {
  return `/registry/${group || 'core'}/`;
}

/** Returns the key prefix of a kind, optionally in one namespace. Ends with '/'. */
export function keyPrefix(definition: KindDefinition, namespace = ''): string {
  const root = `${storagePrefix(definition.group)}${definition.plural}/`;
  return namespace === '' || definition.scope === 'Cluster' ? root : `${root}${namespace}/`;
}

export function objectKey(definition: KindDefinition, namespace: string, name: string): string {
  return `${keyPrefix(definition, namespace)}${name}`;
}

/** The keys of a collection that can match a request. */
export interface KeyRange {
  /** The prefix of the collection, or of one namespace. */
  prefix: string;
  /** The only key that can match, if name and namespace are known. It may be a prefix of other keys. */
  key: string | undefined;
}

/** Returns the keys of a collection, narrowed by the namespace and name in the field selector. */
export function rangeOf(definition: KindDefinition, namespace: string, selected: Selection): KeyRange {
  const isNamespaced = definition.scope === 'Namespaced';
  const selectedNamespace = namespace || (isNamespaced ? (selected.namespace ?? '') : '');
  const prefix = keyPrefix(definition, selectedNamespace);
  const { name } = selected;
  const isOneKey = name !== undefined && !name.includes('/') && (!isNamespaced || selectedNamespace !== '');
  return { prefix, key: isOneKey ? prefix + name : undefined };
}
