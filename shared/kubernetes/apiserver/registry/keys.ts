import type { KindDefinition } from '../kinds/definition.ts';
import type { Selection } from './selectors.ts';

/** The keys of a group's objects begin with this. */
export function storagePrefix(group: string): string {
  return `/registry/${group || 'core'}/`;
}

/** The keys of a kind's objects begin with this: of all of them, or of one namespace. Ends with '/'. */
export function keyPrefix(definition: KindDefinition, namespace = ''): string {
  const root = `${storagePrefix(definition.group)}${definition.plural}/`;
  return namespace === '' || definition.scope === 'Cluster' ? root : `${root}${namespace}/`;
}

export function objectKey(definition: KindDefinition, namespace: string, name: string): string {
  return `${keyPrefix(definition, namespace)}${name}`;
}

/** The keys of the objects that a request can match. */
export interface KeyRange {
  /** The collection, or one namespace of it. */
  prefix: string;
  /** The only key that can match, where name and namespace are given. Other keys may begin with it. */
  key: string | undefined;
}

/** Narrows a collection to the namespace and name that its selection requires. */
export function rangeOf(definition: KindDefinition, namespace: string, selected: Selection): KeyRange {
  const isNamespaced = definition.scope === 'Namespaced';
  const within = namespace || (isNamespaced ? (selected.namespace ?? '') : '');
  const prefix = keyPrefix(definition, within);
  const { name } = selected;
  const isWhole = name !== undefined && !name.includes('/') && (!isNamespaced || within !== '');
  return { prefix, key: isWhole ? prefix + name : undefined };
}
