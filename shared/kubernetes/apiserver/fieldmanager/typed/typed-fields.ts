import { isRecord } from '#shared/base/meta';
import { type FieldSet, FieldSetBuilder, withMembers } from '../fieldpath/field-set.ts';
import { fieldElement, fieldNameOf, type PathElement } from '../fieldpath/path-element.ts';
import { fieldType, type ListType, type MapType, type MergeType } from './merge-type.ts';
import { elementsOf, listOf, mapOf, shapeOf } from './value-shape.ts';

/** Returns the fields that an applier of `value` owns: leaves, list items, and map keys that are not declared fields. */
export function fieldsOf(type: MergeType, value: unknown): FieldSet {
  const set = new FieldSetBuilder();
  visit(set, type, value);
  return set.result();
}

function visit(set: FieldSetBuilder, type: MergeType, value: unknown): void {
  const shape = shapeOf(type, value);
  if (shape === 'map' && type.map) visitMap(set, type.map, value);
  else if (shape === 'list' && type.list) visitList(set, type.list, value);
  else set.add();
}

function visitMap(set: FieldSetBuilder, map: MapType, value: unknown): void {
  if (map.atomic) {
    set.add();
    return;
  }
  for (const [name, field] of Object.entries(mapOf(value))) {
    set.enter(fieldElement(name));
    visit(set, fieldType(map, name) ?? {}, field);
    const empty = field === null || (isRecord(field) && isNothing(field));
    if (empty || !map.fields.has(name)) set.add();
    set.leave();
  }
}

function isNothing(value: Record<string, unknown>): boolean {
  for (const _name in value) return false;
  return true;
}

function visitList(set: FieldSetBuilder, list: ListType, value: unknown): void {
  const items = listOf(value);
  const elements = list.kind === 'atomic' ? undefined : elementsOf(list, items);
  if (!elements) {
    set.add();
    return;
  }
  const repeated = repeatedOf(elements);
  for (const [index, element] of elements.entries()) {
    set.enter(element);
    // Duplicate items are owned together.
    if (!repeated.has(element)) visit(set, list.items, items[index]);
    set.add();
    set.leave();
  }
}

function repeatedOf(elements: readonly PathElement[]): Set<PathElement> {
  const seen = new Set<PathElement>();
  const repeated = new Set<PathElement>();
  for (const element of elements) {
    if (seen.has(element)) repeated.add(element);
    seen.add(element);
  }
  return repeated;
}

/** Adds every declared field that has members below it: an owner of `spec.color` then owns `spec`. */
export function withNamedFields(type: MergeType | undefined, fields: FieldSet): FieldSet {
  return withMembers(
    fields,
    (element) => {
      const name = fieldNameOf(element);
      return name !== undefined && type?.map?.fields.has(name) === true;
    },
    (element, child) => withNamedFields(typeBelow(type, element), child),
  );
}

/** Returns the type below a path element; undefined if the schema has none. */
export function typeBelow(type: MergeType | undefined, element: PathElement): MergeType | undefined {
  const name = fieldNameOf(element);
  if (name !== undefined) return type?.map && fieldType(type.map, name);
  return element.startsWith('k:') ? type?.list?.items : undefined;
}
