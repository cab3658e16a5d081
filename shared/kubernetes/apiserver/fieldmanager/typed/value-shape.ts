import { isRecord } from '#shared/base/meta';
import { keyElement, type PathElement, valueElement } from '../fieldpath/path-element.ts';
import type { ListType, MergeType } from './merge-type.ts';

export type Shape = 'map' | 'list' | 'scalar';

/** Returns the shape of a value if the type allows it, otherwise the first shape of the type. */
export function shapeOf(type: MergeType, value: unknown): Shape {
  if (Array.isArray(value) && type.list) return 'list';
  if (isRecord(value) && type.map) return 'map';
  if (isScalar(value) && type.scalar) return 'scalar';
  if (type.map) return 'map';
  return type.scalar ? 'scalar' : 'list';
}

/** Returns the shapes of two values of a type: two shapes if an untyped value has changed its shape. */
export function shapesOf(type: MergeType, left: unknown, right: unknown): Shape[] {
  if (right === undefined) return [shapeOf(type, left)];
  const shape = shapeOf(type, right);
  if (left === undefined) return [shape];
  const before = shapeOf(type, left);
  return before === shape ? [shape] : [before, shape];
}

/** Excludes null, which is valid for every type. */
export function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** Returns a list; empty for null and values of other types. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function mapOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

/** The error of an item without an identity. */
export interface Unkeyed {
  fault: string;
}

/** Returns the path element of an item in a list of type set or map. */
export function itemElement(list: ListType, item: unknown): PathElement | Unkeyed {
  return list.kind === 'set' ? setElement(item) : keyedElement(list, item);
}

function setElement(item: unknown): PathElement | Unkeyed {
  if (isScalar(item)) return valueElement(item);
  if (item === null) return { fault: "associative list without keys has an element that's an explicit null" };
  if (Array.isArray(item)) return { fault: 'not supported: associative list with lists as elements' };
  return { fault: "associative list without keys has an element that's a map type" };
}

function keyedElement(list: ListType, item: unknown): PathElement | Unkeyed {
  if (item === null) return { fault: 'associative list with keys may not have a null element' };
  if (!isRecord(item)) return { fault: 'associative list with keys may not have non-map elements' };
  const keys: [string, unknown][] = [];
  for (const { name, fallback } of list.keys) {
    const value = Object.hasOwn(item, name) ? item[name] : fallback;
    if (value !== undefined) keys.push([name, value]);
  }
  if (keys.length > 0) return keyElement(keys);
  const names = list.keys.map(({ name }) => JSON.stringify(name)).join(' ');
  return {
    fault: `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
  };
}

/** Returns the path elements of all items; undefined if an item has none, so that the list is atomic. */
export function elementsOf(list: ListType, items: readonly unknown[]): PathElement[] | undefined {
  const elements: PathElement[] = [];
  for (const item of items) {
    const element = itemElement(list, item);
    if (typeof element !== 'string') return undefined;
    elements.push(element);
  }
  return elements;
}
