import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '#shared/base/meta';
import { type FieldSet, sorted } from './fieldpath/field-set.ts';
import { readFieldsV1 } from './fieldpath/fields-v1.ts';
import { compareText } from './fieldpath/path-element.ts';

/** An entry of metadata.managedFields. */
export interface ManagedFieldsEntry {
  manager?: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  /** RFC 3339, whole seconds. */
  time?: string;
  fieldsType: 'FieldsV1';
  fieldsV1: FieldSet;
  subresource?: string;
}

/** Entries by identity. Immutable. */
export type ManagedFields = ReadonlyMap<string, ManagedFieldsEntry>;

export const noOwners: ManagedFields = new Map();

/**
 * Returns the identity of an entry, which is also its sort key: manager, operation, subresource, and for updates the version. An applier
 * that changes its version keeps its entry.
 */
export function identityOf(
  entry: Pick<ManagedFieldsEntry, 'manager' | 'operation' | 'apiVersion' | 'subresource'>,
): string {
  const { manager, operation, apiVersion, subresource } = entry;
  return JSON.stringify({
    ...(manager && { manager }),
    operation,
    ...(operation === 'Update' && { apiVersion }),
    ...(subresource && { subresource }),
  });
}

/** Returns stored entries, which are in canonical form. */
export function storedManaged(value: unknown): ManagedFields {
  if (!Array.isArray(value)) return noOwners;
  const entries = value as ManagedFieldsEntry[];
  return new Map(entries.map((entry) => [identityOf(entry), entry]));
}

/** Parses entries from a client; undefined if the list is invalid. */
export function suppliedManaged(value: unknown): ManagedFields | undefined {
  if (!Array.isArray(value)) return undefined;
  const managed = new Map<string, ManagedFieldsEntry>();
  for (const item of value) {
    const entry = readEntry(item);
    if (!entry) return undefined;
    managed.set(identityOf(entry), entry);
  }
  return managed;
}

function readEntry(item: unknown): ManagedFieldsEntry | undefined {
  if (!isRecord(item)) return undefined;
  const { manager, operation, apiVersion, time, fieldsType, fieldsV1, subresource } = item;
  if (operation !== 'Apply' && operation !== 'Update') return undefined;
  if (!isText(apiVersion) || apiVersion === '' || fieldsType !== 'FieldsV1') return undefined;
  if (![manager, time, subresource].every((text) => text === undefined || text === null || isText(text)))
    return undefined;
  const fields = fieldsOf(fieldsV1);
  if (!fields) return undefined;
  return {
    ...(isText(manager) && manager !== '' && { manager }),
    operation,
    apiVersion,
    ...(isText(time) && time !== '' && { time }),
    fieldsType,
    fieldsV1: fields,
    ...(isText(subresource) && subresource !== '' && { subresource }),
  };
}

const isText = (value: unknown): value is string => typeof value === 'string';

function fieldsOf(value: unknown): FieldSet | undefined {
  try {
    return sorted(readFieldsV1(value));
  } catch (caught) {
    if (caught instanceof SyntaxError) return undefined;
    throw caught;
  }
}

/** Tells whether a client resets all ownership, by `[]` or `[{}]`. */
export function isReset(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  const [first] = value;
  return value.length === 0 || (value.length === 1 && isRecord(first) && Object.keys(first).length === 0);
}

/** Returns the entries in stored order: appliers first, then by time. Undefined if empty. */
export function sortedEntries(managed: ManagedFields): ManagedFieldsEntry[] | undefined {
  if (managed.size === 0) return undefined;
  return [...managed.values()].sort(compareEntries);
}

function compareEntries(a: ManagedFieldsEntry, b: ManagedFieldsEntry): number {
  return (
    compareText(a.operation, b.operation) ||
    seconds(a) - seconds(b) ||
    compareText(a.manager ?? '', b.manager ?? '') ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource ?? '', b.subresource ?? '')
  );
}

/** Returns the time of an entry in seconds; 0 without a time. */
export function seconds(entry: ManagedFieldsEntry): number {
  const milliseconds = Date.parse(entry.time ?? '');
  return Number.isNaN(milliseconds) ? 0 : Math.floor(milliseconds / 1000);
}

/** Returns the entry with another set of fields, sorted for storage. */
export function withFields(entry: ManagedFieldsEntry, fields: FieldSet): ManagedFieldsEntry {
  return fields === entry.fieldsV1 ? entry : { ...entry, fieldsV1: sorted(fields) };
}

/** Tells whether two stored lists are equal except for timestamps. */
export function sameOwners(a: unknown, b: unknown): boolean {
  const left = storedManaged(a);
  const right = storedManaged(b);
  return (
    left.size === right.size && [...left].every(([identity, entry]) => sameFields(entry, right.get(identity)))
  );
}

function sameFields(a: ManagedFieldsEntry, b: ManagedFieldsEntry | undefined): boolean {
  return b !== undefined && a.apiVersion === b.apiVersion && isDeepStrictEqual(a.fieldsV1, b.fieldsV1);
}
