import type { KindDefinition } from '../kinds/definition.ts';
import { difference, type FieldSet, intersection, isEmpty, noFields, union } from './fieldpath/field-set.ts';
import { type ManagedFields, type ManagedFieldsEntry, withFields } from './managed-fields.ts';
import { type MergeType, mergeTypeOf } from './typed/merge-type.ts';
import type { Comparison } from './typed/typed-compare.ts';
import { typeBelow } from './typed/typed-fields.ts';

/** Fields without owners: server-set fields and the identity of the object. */
const unownedFields: FieldSet = {
  'f:apiVersion': {},
  'f:kind': {},
  'f:metadata': {
    '.': {},
    'f:clusterName': {},
    'f:creationTimestamp': {},
    'f:generation': {},
    'f:managedFields': {},
    'f:name': {},
    'f:namespace': {},
    'f:resourceVersion': {},
    'f:selfLink': {},
    'f:uid': {},
  },
};

/** Removes fields that have no owners. */
export function ownable(fields: FieldSet): FieldSet {
  return difference(fields, unownedFields);
}

/** Returns the fields that an endpoint does not write, so that it does not change their ownership. */
export function fieldsIgnoredBy(subresource: string, hasStatus: boolean): FieldSet {
  if (subresource === 'status') return { 'f:spec': {} };
  return hasStatus ? { 'f:status': {} } : {};
}

/** Returns the changed fields that other managers own, by identity. */
export function conflictsOf(
  managed: ManagedFields,
  changes: Comparison,
  self: string | undefined,
): Map<string, FieldSet> {
  const changed = union(changes.modified, changes.added);
  const conflicts = new Map<string, FieldSet>();
  if (isEmpty(changed)) return conflicts;
  for (const [identity, { fieldsV1 }] of managed) {
    if (identity === self) continue;
    const both = intersection(fieldsV1, changed);
    if (!isEmpty(both)) conflicts.set(identity, both);
  }
  return conflicts;
}

/** Removes changed and removed fields from every manager except `self`. Drops managers without fields. */
export function ownersAfterChange(
  managed: ManagedFields,
  changes: Comparison,
  self: string | undefined,
): Map<string, ManagedFieldsEntry> {
  const changed = union(changes.modified, changes.added);
  const left = new Map<string, ManagedFieldsEntry>();
  for (const [identity, entry] of managed) {
    const { fieldsV1 } = entry;
    const fields = identity === self ? fieldsV1 : difference(difference(fieldsV1, changed), changes.removed);
    if (!isEmpty(fields)) left.set(identity, withFields(entry, fields));
  }
  return left;
}

/**
 * Adapts entries to the current schema: drops entries of versions that are no longer served; if a list or map has become atomic, owners of
 * its parts own the whole.
 */
export function reconcileWithSchema(
  managed: ManagedFields,
  definition: KindDefinition,
  apiVersion: string,
): ManagedFields {
  const type = mergeTypeOf(definition);
  const current = new Map<string, ManagedFieldsEntry>();
  for (const [identity, entry] of managed) {
    if (entry.apiVersion === apiVersion)
      current.set(identity, withFields(entry, reconcileFields(type, entry.fieldsV1)));
  }
  return current;
}

/** Returns the same set if the schema has not changed. */
export function reconcileFields(type: MergeType, fields: FieldSet): FieldSet {
  let result: { [element: string]: FieldSet } | undefined;
  for (const [element, child] of Object.entries(fields)) {
    if (element === '.' || isEmpty(child)) continue;
    const inside = typeBelow(type, element);
    if (!inside) continue;
    const adapted = isAtomic(inside) ? noFields : reconcileFields(inside, child);
    if (adapted === child) continue;
    result ??= { ...fields };
    result[element] = adapted;
  }
  return result ?? fields;
}

/** Untyped values are not atomic. */
function isAtomic(type: MergeType): boolean {
  if (type.map) return type.map.atomic;
  return type.scalar === undefined && type.list?.kind === 'atomic';
}
