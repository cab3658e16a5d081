import { isDeepStrictEqual } from 'node:util';
import { ArcError } from '#shared/base/errors';
import type { KindDefinition, KubeObject } from '../kinds/definition.ts';
import { isEmpty, noFields, union, unionOf } from './fieldpath/field-set.ts';
import {
  compareText,
  identityOf,
  isReset,
  listManaged,
  type Managed,
  type ManagedFieldsEntry,
  nobody,
  seconds,
  storedManaged,
  suppliedManaged,
  withFields,
} from './managed-fields.ts';
import { afterChange, ignoredBy, ownable, upToDate } from './ownership.ts';
import { mergeTypeOf } from './typed/merge-type.ts';
import { compareTyped } from './typed/typed-compare.ts';

/** The manager of a write, with endpoint and time. */
export interface Writer {
  definition: KindDefinition;
  /** `group/version` of the endpoint. */
  apiVersion: string;
  /** The field manager's name; at most 128 printable characters. */
  manager: string;
  /** '' or 'status'. */
  subresource: string;
  /** RFC 3339, whole seconds. */
  time: string;
}

/** Most entries that a client may send in place of the stored ones: all of them are compared with the change. */
const mostManagers = 500;
/** Most entries of updates; beyond that the oldest are merged. */
const mostUpdaters = 10;
const oldUpdates = 'ancient-changes';

/**
 * The managedFields of an object after a create, a PUT or a patch other than apply: the writer owns the fields that it changed,
 * and all others lose them. Updates never conflict.
 *
 * `supplied` is metadata.managedFields as the client has sent it: `[]` and `[{}]` make the object forget all owners, a
 * valid list replaces the stored one, anything else leaves it alone. Objects without owners are not tracked until the
 * first apply; `live` undefined means a create, which is always tracked.
 */
export function trackUpdate(
  writer: Writer,
  live: KubeObject | undefined,
  next: KubeObject,
  supplied: unknown,
): ManagedFieldsEntry[] | undefined {
  const managed = startingFrom(writer, live, supplied);
  if (managed.size === 0 && live) return undefined;
  return listManaged(capped(writer, updated(writer, live, next, managed)));
}

function startingFrom(writer: Writer, live: KubeObject | undefined, supplied: unknown): Managed {
  const stored = live?.metadata.managedFields;
  // A subresource does not write managedFields.
  if (writer.subresource !== '' || supplied === stored) return storedManaged(stored);
  if (isReset(supplied)) return nobody;
  if (isDeepStrictEqual(supplied, stored)) return storedManaged(stored);
  if (Array.isArray(supplied) && supplied.length > mostManagers)
    throw new ArcError(
      'RequestEntityTooLarge',
      `metadata.managedFields may have at most ${mostManagers} entries: send it back as it was read, or [] to forget it`,
    );
  const given = suppliedManaged(supplied);
  return given && given.size > 0 ? given : storedManaged(stored);
}

/** The owners after `writer` has made `next` out of `live`. */
export function updated(
  writer: Writer,
  live: KubeObject | undefined,
  next: KubeObject,
  given: Managed,
): Managed {
  const { definition, apiVersion, manager, subresource, time } = writer;
  const managed = upToDate(given, definition, apiVersion);
  const ignored = ignoredBy(subresource, definition.status);
  const changes = compareTyped(mergeTypeOf(definition), withoutOwners(live), withoutOwners(next), ignored);
  const left = afterChange(managed, changes, undefined);
  const own = ownable(union(changes.modified, changes.added));
  if (isEmpty(own)) return left;
  const base = { manager: manager === '' ? 'unknown' : manager, operation: 'Update', apiVersion } as const;
  const rest = { time, fieldsType: 'FieldsV1', fieldsV1: noFields } as const;
  const entry: ManagedFieldsEntry = { ...base, ...rest, ...(subresource && { subresource }) };
  const identity = identityOf(entry);
  const before = left.get(identity)?.fieldsV1;
  return left.set(identity, withFields(entry, before ? union(own, before) : own));
}

/** The object to compare, without managedFields. */
export function withoutOwners(object: KubeObject | undefined): KubeObject | undefined {
  if (!object || object.metadata.managedFields === undefined) return object;
  const { managedFields: _owners, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Keeps the list of updaters short: the oldest are merged into one entry, which has the time of the newest of them. */
function capped(writer: Writer, managed: Managed): Managed {
  const updaters = [...managed].filter(([, { operation }]) => operation === 'Update');
  if (updaters.length <= mostUpdaters) return managed;
  updaters.sort(([a, one], [b, other]) => seconds(one) - seconds(other) || compareText(a, b));
  const oldest = updaters.slice(0, updaters.length - mostUpdaters + 1);
  const result = new Map(managed);
  for (const [identity] of oldest) result.delete(identity);
  const { apiVersion } = writer;
  const time = oldest.at(-1)?.[1].time;
  const merged: ManagedFieldsEntry = {
    manager: oldUpdates,
    operation: 'Update',
    apiVersion,
    ...(time !== undefined && { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: noFields,
  };
  const fields = unionOf(oldest.map(([, entry]) => entry.fieldsV1));
  return result.set(identityOf(merged), withFields(merged, fields));
}
