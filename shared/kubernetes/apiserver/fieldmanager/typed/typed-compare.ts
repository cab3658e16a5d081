import { isDeepStrictEqual } from 'node:util';
import { checkPaths, type FieldSet, FieldSetBuilder, recursiveDifference } from '../fieldpath/field-set.ts';
import { fieldElement, type PathElement } from '../fieldpath/path-element.ts';
import { fieldType, type ListType, type MapType, type MergeType } from './merge-type.ts';
import { elementsOf, listOf, mapOf, type Shape, shapesOf } from './value-shape.ts';

/** The differences of two objects. The sets are disjoint. */
export interface Comparison {
  added: FieldSet;
  modified: FieldSet;
  removed: FieldSet;
}

interface Walk {
  added: FieldSetBuilder;
  modified: FieldSetBuilder;
  removed: FieldSetBuilder;
}

/** Compares two objects. Skips `ignored` fields and everything below them. */
export function compareTyped(
  type: MergeType,
  before: unknown,
  after: unknown,
  ignored: FieldSet,
): Comparison {
  const walk: Walk = {
    added: new FieldSetBuilder(),
    modified: new FieldSetBuilder(),
    removed: new FieldSetBuilder(),
  };
  visit(walk, type, before, after);
  return {
    added: recursiveDifference(walk.added.result(), ignored),
    modified: recursiveDifference(walk.modified.result(), ignored),
    removed: recursiveDifference(walk.removed.result(), ignored),
  };
}

function visit(walk: Walk, type: MergeType, before: unknown, after: unknown): void {
  if (before === after) return;
  let isAtomic = false;
  for (const shape of shapesOf(type, before, after)) isAtomic = visitShape(walk, type, shape, before, after);
  if (isAtomic) return;
  if (before === undefined) walk.added.add();
  else if (after === undefined) walk.removed.add();
}

/** Returns true if the values were compared atomically. */
function visitShape(walk: Walk, type: MergeType, shape: Shape, before: unknown, after: unknown): boolean {
  if (shape === 'map' && type.map) return visitMap(walk, type.map, before, after);
  if (shape === 'list' && type.list) return visitList(walk, type.list, before, after);
  return compareAtomic(walk, before, after);
}

function enter({ added, modified, removed }: Walk, element: PathElement): void {
  added.enter(element);
  modified.enter(element);
  removed.enter(element);
}

function leave({ added, modified, removed }: Walk): void {
  added.leave();
  modified.leave();
  removed.leave();
}

function compareAtomic(walk: Walk, before: unknown, after: unknown): boolean {
  if (before === undefined) walk.added.add();
  else if (after === undefined) walk.removed.add();
  else if (!isDeepStrictEqual(before, after)) walk.modified.add();
  return true;
}

function visitMap(walk: Walk, map: MapType, before: unknown, after: unknown): boolean {
  const left = mapOf(before);
  const right = mapOf(after);
  const names = Object.keys(left);
  for (const name of Object.keys(right)) if (!Object.hasOwn(left, name)) names.push(name);
  // Without fields on either side, compare null, {} and absence as values.
  if (map.atomic || names.length === 0) return compareAtomic(walk, before, after);
  for (const name of names) {
    const [before, after] = [own(left, name), own(right, name)];
    if (before === after) continue;
    enter(walk, fieldElement(name));
    visit(walk, fieldType(map, name) ?? {}, before, after);
    leave(walk);
  }
  return false;
}

function own(map: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}

function visitList(walk: Walk, list: ListType, before: unknown, after: unknown): boolean {
  const left = listOf(before);
  const right = listOf(after);
  if (list.kind === 'atomic' || left.length + right.length === 0) return compareAtomic(walk, before, after);
  checkPaths(right.length);
  const leftElements = elementsOf(list, left);
  const rightElements = elementsOf(list, right);
  if (!leftElements || !rightElements) return compareAtomic(walk, before, after);
  const leftItems = grouped(leftElements, left);
  const rightItems = grouped(rightElements, right);
  for (const element of new Set([...leftElements, ...rightElements])) {
    enter(walk, element);
    visitItems(walk, list, leftItems.get(element) ?? [], rightItems.get(element) ?? []);
    leave(walk);
  }
  return false;
}

function grouped(elements: readonly PathElement[], items: readonly unknown[]): Map<PathElement, unknown[]> {
  const groups = new Map<PathElement, unknown[]>();
  for (const [index, element] of elements.entries()) {
    const group = groups.get(element);
    if (group) group.push(items[index]);
    else groups.set(element, [items[index]]);
  }
  return groups;
}

/** Compares the items of a path element, usually one on each side. Duplicates are compared as a whole. */
function visitItems(walk: Walk, list: ListType, left: readonly unknown[], right: readonly unknown[]): void {
  const [before] = left;
  const [after] = right;
  if (left.length <= 1 && right.length <= 1) {
    visit(walk, list.items, before, after);
  } else if (left.length > 1 && right.length > 1) {
    if (!isDeepStrictEqual(left, right)) walk.modified.add();
  } else if (left.length > 1) {
    if (right.length > 0) visit(walk, list.items, undefined, after);
    walk.removed.add();
  } else {
    if (left.length > 0) visit(walk, list.items, before, undefined);
    walk.added.add();
  }
}
