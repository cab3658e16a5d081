import { ArcError } from '#shared/base/errors';
import type { Key, Kind } from './client.ts';

/** Returns the path of a collection: `/api/v1/…` for the core group, `/apis/<group>/<version>/…` for all others. */
export function collectionPath(kind: Kind, namespace?: string): string {
  const root = kind.apiVersion.includes('/') ? '/apis' : '/api';
  const group = kind.apiVersion.split('/').map(segment).join('/');
  const scope = kind.namespaced && namespace !== undefined ? `/namespaces/${segment(namespace)}` : '';
  return `${root}/${group}${scope}/${segment(kind.plural)}`;
}

/** Returns the path of an object. Throws BadRequest for a namespaced kind without a namespace. */
export function objectPath(kind: Kind, key: Key, subresource?: string): string {
  const tail = subresource === undefined ? '' : `/${segment(subresource)}`;
  return `${collectionPath(kind, namespaceOf(kind, key))}/${segment(key.name)}${tail}`;
}

/** Returns the namespace of a write; undefined for cluster-scoped kinds. Throws BadRequest for a namespaced kind without a namespace. */
export function namespaceOf(kind: Kind, key: { name?: string; namespace?: string }): string | undefined {
  if (!kind.namespaced) return undefined;
  if (key.namespace === undefined || key.namespace === '') {
    throw new ArcError('BadRequest', `${kind.kind} ${key.name ?? ''} needs a namespace`);
  }
  return key.namespace;
}

/** Returns a query string without undefined options. */
export function query(options: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const set = new URLSearchParams();
  for (const [key, value] of Object.entries(options)) if (value !== undefined) set.set(key, String(value));
  return set.size === 0 ? '' : `?${set}`;
}

function segment(text: string): string {
  // The URL parser resolves dot segments, even encoded ones: a name '..' would address another collection.
  if (text === '' || text === '.' || text === '..') {
    throw new ArcError('BadRequest', `${JSON.stringify(text)} is not a valid name`);
  }
  return encodeURIComponent(text);
}
