import type { Call } from '../request/call.ts';
import type { Selection } from './selectors.ts';
import { keyPrefix } from './stored-object.ts';

/** Where the objects that a request asks for can be. */
export interface KeyRange {
  /** The collection, or one namespace of it. */
  prefix: string;
  /** The one key that can match, where name and namespace are given. Other keys may begin with it. */
  key: string | undefined;
}

/** The part of the collection that a selection leaves. */
export function rangeOf({ definition, namespace }: Call, selected: Selection): KeyRange {
  const isNamespaced = definition.scope === 'Namespaced';
  const within = namespace || (isNamespaced ? (selected.namespace ?? '') : '');
  const prefix = keyPrefix(definition, within);
  const { name } = selected;
  const isWhole = name !== undefined && !name.includes('/') && (!isNamespaced || within !== '');
  return { prefix, key: isWhole ? prefix + name : undefined };
}
