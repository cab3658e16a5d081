import { isRecord } from '../request-body.ts';
import { type FieldSet, FieldSetBuilder, withMembers } from './field-set.ts';
import { fieldType, type ListType, type MapType, type MergeType } from './merge-type.ts';
import { fieldElement, fieldNameOf, type PathElement } from './path-element.ts';
import { elementsOf, listOf, mapOf, shapeOf } from './value-shape.ts';

interface Walk {
  path: PathElement[];
  set: FieldSetBuilder;
}

/** What whoever applies `value` owns: every leaf, every item of a list and every key of a map that is no declared field. */
export function fieldsOf(type: MergeType, value: unknown): FieldSet {
  const walk: Walk = { path: [], set: new FieldSetBuilder() };
  visit(walk, type, value);
  return walk.set.result();
}

function visit(walk: Walk, type: MergeType, value: unknown): void {
  const shape = shapeOf(type, value);
  if (shape === 'map' && type.map) visitMap(walk, type.map, value);
  else if (shape === 'list' && type.list) visitList(walk, type.list, value);
  else walk.set.insert(walk.path);
}

function visitMap(walk: Walk, map: MapType, value: unknown): void {
  if (map.atomic) {
    walk.set.insert(walk.path);
    return;
  }
  for (const [name, field] of Object.entries(mapOf(value))) {
    walk.path.push(fieldElement(name));
    visit(walk, fieldType(map, name) ?? {}, field);
    const empty = field === null || (isRecord(field) && isNothing(field));
    if (empty || !map.fields.has(name)) walk.set.insert(walk.path);
    walk.path.pop();
  }
}

function isNothing(value: Record<string, unknown>): boolean {
  for (const _name in value) return false;
  return true;
}

function visitList(walk: Walk, list: ListType, value: unknown): void {
  const items = listOf(value);
  const elements = list.kind === 'atomic' ? undefined : elementsOf(list, items);
  if (!elements) {
    walk.set.insert(walk.path);
    return;
  }
  const repeated = new Set(elements.filter((element, index) => elements.indexOf(element) !== index));
  for (const [index, element] of elements.entries()) {
    walk.path.push(element);
    // Items that cannot be told apart are owned together.
    if (!repeated.has(element)) visit(walk, list.items, items[index]);
    walk.set.insert(walk.path);
    walk.path.pop();
  }
}

/** The set with every declared field a member that has members below it: who owns `spec.color` then owns `spec`. */
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

/** The type a step leads to; undefined where the schema knows none. */
export function typeBelow(type: MergeType | undefined, element: PathElement): MergeType | undefined {
  const name = fieldNameOf(element);
  if (name !== undefined) return type?.map && fieldType(type.map, name);
  return element.startsWith('k:') ? type?.list?.items : undefined;
}
