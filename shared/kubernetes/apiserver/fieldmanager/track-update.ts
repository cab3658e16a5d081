import { isDeepStrictEqual } from 'node:util';
import { ArcError } from '#shared/base/errors';
import type { KindDefinition, KubeObject } from '../kinds/definition.ts';
import { isEmpty, noFields, union, unionOf } from './fieldpath/field-set.ts';
import { compareText } from './fieldpath/path-element.ts';
import {
  identityOf,
  isReset,
  type ManagedFields,
  type ManagedFieldsEntry,
  noOwners,
  seconds,
  sortedEntries,
  storedManaged,
  suppliedManaged,
  withFields,
} from './managed-fields.ts';
import { fieldsIgnoredBy, ownable, ownersAfterChange, reconcileWithSchema } from './ownership.ts';
import { mergeTypeOf } from './typed/merge-type.ts';
import { compareTyped } from './typed/typed-compare.ts';

/** The field manager of a write, with its endpoint and time. */
export interface Writer {
  definition: KindDefinition;
  /** `group/version` of the endpoint. */
  apiVersion: string;
  /** The name of the manager: at most 128 printable characters. */
  manager: string;
  /** '' or 'status'. */
  subresource: string;
  /** RFC 3339, whole seconds. */
  time: string;
}

/** Limit of entries from a client: all of them are compared with the change. */
const maxSupplied = 500;
/** Limit of Update entries, above which the oldest are merged. */
const maxUpdaters = 10;
const oldUpdates = 'ancient-changes';

/**
 * Returns the managedFields after a create, a PUT or a patch other than apply: the manager owns the fields that it has changed, and all
 * others lose them. Updates never conflict. Objects without managedFields are not tracked until the first apply.
 *
 * @param live the stored object; undefined for a create
 * @param supplied metadata.managedFields from the client: `[]` and `[{}]` reset ownership, a valid list replaces the stored list, anything
 *   else is ignored
 */
export function trackUpdate(
  writer: Writer,
  live: KubeObject | undefined,
  next: KubeObject,
  supplied: unknown,
): ManagedFieldsEntry[] | undefined {
  const managed = initialOwners(writer, live, supplied);
  if (managed.size === 0 && live) return undefined;
  return sortedEntries(capUpdaters(writer, ownersAfterUpdate(writer, live, next, managed)));
}

function initialOwners(writer: Writer, live: KubeObject | undefined, supplied: unknown): ManagedFields {
  const stored = live?.metadata.managedFields;
  // Subresources ignore managedFields from the client.
  if (writer.subresource !== '' || supplied === stored) return storedManaged(stored);
  if (isReset(supplied)) return noOwners;
  if (isDeepStrictEqual(supplied, stored)) return storedManaged(stored);
  if (Array.isArray(supplied) && supplied.length > maxSupplied)
    throw new ArcError(
      'RequestEntityTooLarge',
      `metadata.managedFields may have at most ${maxSupplied} entries: send it unchanged, or [] to reset it`,
    );
  const given = suppliedManaged(supplied);
  return given && given.size > 0 ? given : storedManaged(stored);
}

/** Returns the owners after `writer` has changed `live` to `next`. */
export function ownersAfterUpdate(
  writer: Writer,
  live: KubeObject | undefined,
  next: KubeObject,
  given: ManagedFields,
): ManagedFields {
  const { definition, apiVersion, manager, subresource, time } = writer;
  const managed = reconcileWithSchema(given, definition, apiVersion);
  const ignored = fieldsIgnoredBy(subresource, definition.status);
  const changes = compareTyped(
    mergeTypeOf(definition),
    withoutManagedFields(live),
    withoutManagedFields(next),
    ignored,
  );
  const left = ownersAfterChange(managed, changes, undefined);
  const own = ownable(union(changes.modified, changes.added));
  if (isEmpty(own)) return left;
  const base = { manager: manager === '' ? 'unknown' : manager, operation: 'Update', apiVersion } as const;
  const rest = { time, fieldsType: 'FieldsV1', fieldsV1: noFields } as const;
  const entry: ManagedFieldsEntry = { ...base, ...rest, ...(subresource && { subresource }) };
  const identity = identityOf(entry);
  const before = left.get(identity)?.fieldsV1;
  return left.set(identity, withFields(entry, before ? union(own, before) : own));
}

/** Returns the object without managedFields, for comparison. */
export function withoutManagedFields(object: KubeObject | undefined): KubeObject | undefined {
  if (!object || object.metadata.managedFields === undefined) return object;
  const { managedFields: _owners, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Merges the oldest Update entries above the limit into one entry, with the time of the newest of them. */
function capUpdaters(writer: Writer, managed: ManagedFields): ManagedFields {
  const updaters = [...managed].filter(([, { operation }]) => operation === 'Update');
  if (updaters.length <= maxUpdaters) return managed;
  updaters.sort(([a, left], [b, right]) => seconds(left) - seconds(right) || compareText(a, b));
  const oldest = updaters.slice(0, updaters.length - maxUpdaters + 1);
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
