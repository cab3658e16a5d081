import type { KindDefinition } from '../kinds/definition.ts';
import type { Selection } from './selectors.ts';

/** Where a group's objects live. */
export function storagePrefix(group: string): string {
  return `/registry/${group || 'core'}/`;
}

/** Where a kind's objects live: all of them, or those of one namespace. Ends with '/'. */
export function keyPrefix(definition: KindDefinition, namespace = ''): string {
  const root = `${storagePrefix(definition.group)}${definition.plural}/`;
  return namespace === '' || definition.scope === 'Cluster' ? root : `${root}${namespace}/`;
}

export function objectKey(definition: KindDefinition, namespace: string, name: string): string {
  return `${keyPrefix(definition, namespace)}${name}`;
}

/** Where the objects that a request asks for can be. */
export interface KeyRange {
  /** The collection, or one namespace of it. */
  prefix: string;
  /** The one key that can match, where name and namespace are given. Other keys may begin with it. */
  key: string | undefined;
}

/** The part of the collection that a selection leaves. */
export function rangeOf(definition: KindDefinition, namespace: string, selected: Selection): KeyRange {
  const isNamespaced = definition.scope === 'Namespaced';
  const within = namespace || (isNamespaced ? (selected.namespace ?? '') : '');
  const prefix = keyPrefix(definition, within);
  const { name } = selected;
  const isWhole = name !== undefined && !name.includes('/') && (!isNamespaced || within !== '');
  return { prefix, key: isWhole ? prefix + name : undefined };
}
