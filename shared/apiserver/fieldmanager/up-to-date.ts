import type { KindDefinition } from '../kinds/definition.ts';
import { type FieldSet, isEmpty, noFields } from './fieldpath/field-set.ts';
import { type Managed, type ManagedFieldsEntry, withFields } from './managed-fields.ts';
import { type MergeType, mergeTypeOf } from './typed/merge-type.ts';
import { typeBelow } from './typed/typed-fields.ts';

/**
 * The entries as they are to be read today: those of versions that are not served any more are left out, and where the
 * schema has made a list or map atomic since, who owned parts of it owns it as a whole.
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

/** The set itself where the schema is as it was: that is every time but once. */
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

/** Where the schema leaves the form open, nothing is said about what is owned as a whole. */
function isAtomic(type: MergeType): boolean {
  if (type.map) return type.map.atomic;
  return type.scalar === undefined && type.list?.kind === 'atomic';
}
