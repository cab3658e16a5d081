import type { KindDefinition } from '../kinds/definition.ts';
import { type FieldSet, isEmpty, noFields } from './fieldpath/field-set.ts';
import { type Managed, type ManagedFieldsEntry, withFields } from './managed-fields.ts';
import { type MergeType, mergeTypeOf } from './typed/merge-type.ts';
import { typeBelow } from './typed/typed-fields.ts';

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
