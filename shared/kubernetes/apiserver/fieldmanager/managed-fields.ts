import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '#shared/base/meta';
import { type FieldSet, sorted } from './fieldpath/field-set.ts';
import { readFieldsV1 } from './fieldpath/fields-v1.ts';

/** One entry of metadata.managedFields. */
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

/** Entries by identity. Maps and entries are replaced, never changed. */
export type Managed = ReadonlyMap<string, ManagedFieldsEntry>;

export const nobody: Managed = new Map();

/**
 * The identity of an entry, by which managers are also sorted: manager, operation and subresource, for updates also the
 * version. An applier that changes to another version keeps its entry.
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

/** Entries stored by this server, which are in canonical form already. */
export function storedManaged(value: unknown): Managed {
  if (!Array.isArray(value)) return nobody;
  const entries = value as ManagedFieldsEntry[];
  return new Map(entries.map((entry) => [identityOf(entry), entry]));
}

/** Entries that a client has sent to replace the stored ones; undefined when the value is not a valid list. */
export function suppliedManaged(value: unknown): Managed | undefined {
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

/** True for `[]` and `[{}]`, by which a client resets all ownership. */
export function isReset(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  const [first] = value;
  return value.length === 0 || (value.length === 1 && isRecord(first) && Object.keys(first).length === 0);
}

/** In the order of the object's metadata: appliers first, older before newer. Undefined when there are none. */
export function listManaged(managed: Managed): ManagedFieldsEntry[] | undefined {
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

/** Sorts entries without a time before all others. */
export function seconds(entry: ManagedFieldsEntry): number {
  const milliseconds = Date.parse(entry.time ?? '');
  return Number.isNaN(milliseconds) ? 0 : Math.floor(milliseconds / 1000);
}

export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The entry with another set, its steps in stored order. */
export function withFields(entry: ManagedFieldsEntry, fields: FieldSet): ManagedFieldsEntry {
  return fields === entry.fieldsV1 ? entry : { ...entry, fieldsV1: sorted(fields) };
}

/** True when two stored lists are equal except for their times. */
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
