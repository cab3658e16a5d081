import type { KindDefinition } from '../kinds/definition.ts';
import { difference, type FieldSet, intersection, isEmpty, noFields, union } from './fieldpath/field-set.ts';
import { type Managed, type ManagedFieldsEntry, withFields } from './managed-fields.ts';
import { type MergeType, mergeTypeOf } from './typed/merge-type.ts';
import type { Comparison } from './typed/typed-compare.ts';
import { typeBelow } from './typed/typed-fields.ts';

/** Fields that nobody owns: those that the server sets, and the object's identity. */
const neverOwned: FieldSet = {
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

/** The part of a set that its manager owns. */
export function ownable(fields: FieldSet): FieldSet {
  return difference(fields, neverOwned);
}

/** Fields that an endpoint does not write, so that nobody gets ownership through it. */
export function ignoredBy(subresource: string, hasStatus: boolean): FieldSet {
  if (subresource === 'status') return { 'f:spec': {} };
  return hasStatus ? { 'f:status': {} } : {};
}

/** The changed fields that other managers own, by the identity of the owner. */
export function conflictsOf(
  managed: Managed,
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

/** Every manager but `self` loses fields that were changed or removed; managers without fields are dropped. */
export function afterChange(
  managed: Managed,
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
 * The entries adapted to the current schema: those of versions that are no longer served are dropped, and when the
 * schema has since made a list or map atomic, an owner of its parts owns the whole.
 */
export function upToDate(managed: Managed, definition: KindDefinition, apiVersion: string): Managed {
  const type = mergeTypeOf(definition);
  const current = new Map<string, ManagedFieldsEntry>();
  for (const [identity, entry] of managed) {
    if (entry.apiVersion === apiVersion)
      current.set(identity, withFields(entry, asDeclared(type, entry.fieldsV1)));
  }
  return current;
}

/** The set itself when the schema has not changed, which is nearly always. */
export function asDeclared(type: MergeType, fields: FieldSet): FieldSet {
  let result: { [element: string]: FieldSet } | undefined;
  for (const [element, child] of Object.entries(fields)) {
    if (element === '.' || isEmpty(child)) continue;
    const inside = typeBelow(type, element);
    if (!inside) continue;
    const now = isAtomic(inside) ? noFields : asDeclared(inside, child);
    if (now === child) continue;
    result ??= { ...fields };
    result[element] = now;
  }
  return result ?? fields;
}

/** A schema that leaves the form open does not make anything atomic. */
function isAtomic(type: MergeType): boolean {
  if (type.map) return type.map.atomic;
  return type.scalar === undefined && type.list?.kind === 'atomic';
}
