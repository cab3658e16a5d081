import { isRecord } from '#shared/base/meta';
import { childrenOf, type FieldSet, hasElement, isEmpty } from '../fieldpath/field-set.ts';
import { fieldElement } from '../fieldpath/path-element.ts';
import { fieldType, type ListType, type MapType, type MergeType } from './merge-type.ts';
import { itemElement, shapeOf } from './value-shape.ts';

/**
 * Removes the fields and items of a set from a value. An emptied map or list becomes null, unless the set contains its field, which is then
 * removed.
 */
export function removeFields(type: MergeType, value: unknown, fields: FieldSet): unknown {
  const shape = shapeOf(type, value);
  if (shape === 'map' && type.map) return removeFromMap(type.map, value, fields);
  if (shape === 'list' && type.list) return removeFromList(type.list, value, fields);
  return value;
}

function removeFromMap(map: MapType, value: unknown, fields: FieldSet): unknown {
  if (map.atomic || !isRecord(value)) return null;
  const kept: [string, unknown][] = [];
  for (const [name, field] of Object.entries(value)) {
    const element = fieldElement(name);
    if (hasElement(fields, element)) continue;
    const inside = childrenOf(fields, element);
    kept.push([name, isEmpty(inside) ? field : removeFields(fieldType(map, name) ?? {}, field, inside)]);
  }
  return kept.length > 0 ? Object.fromEntries(kept) : null;
}

function removeFromList(list: ListType, value: unknown, fields: FieldSet): unknown {
  if (list.kind === 'atomic' || !Array.isArray(value)) return null;
  const kept: unknown[] = [];
  for (const item of value) {
    const element = itemElement(list, item);
    if (typeof element !== 'string') {
      kept.push(item);
      continue;
    }
    if (hasElement(fields, element)) continue;
    const inside = childrenOf(fields, element);
    kept.push(isEmpty(inside) ? item : removeFields(list.items, item, inside));
  }
  return kept.length > 0 ? kept : null;
}
