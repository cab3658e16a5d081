import type { PathElement } from '../fieldpath/path-element.ts';
import { fieldType, type ListType, type MapType, type MergeType } from './merge-type.ts';
import { elementsOf, listOf, mapOf, shapesOf } from './value-shape.ts';

/**
 * Merges `applied` into `live`: maps by key, lists of type map and set by path element; replaces everything else. Removes nothing. The
 * result shares unchanged parts with `live`.
 */
export function mergeTyped(type: MergeType, live: unknown, applied: unknown): unknown {
  if (applied === undefined) return live;
  if (live === undefined) return applied;
  // If the shape has changed, the applied value replaces the live one.
  const shape = shapesOf(type, live, applied).at(-1);
  if (shape === 'map' && type.map) return mergeMaps(type.map, live, applied);
  if (shape === 'list' && type.list) return mergeLists(type.list, live, applied);
  return applied;
}

function mergeMaps(map: MapType, live: unknown, applied: unknown): unknown {
  const left = mapOf(live);
  const right = Object.entries(mapOf(applied));
  if (map.atomic || right.length + Object.keys(left).length === 0) return applied;
  const merged = new Map(Object.entries(left));
  for (const [name, value] of right) {
    merged.set(name, mergeTyped(fieldType(map, name) ?? {}, merged.get(name), value));
  }
  return Object.fromEntries(merged);
}

function mergeLists(list: ListType, live: unknown, applied: unknown): unknown {
  const left = listOf(live);
  const right = listOf(applied);
  if (list.kind === 'atomic' || left.length + right.length === 0) return applied;
  const leftElements = elementsOf(list, left);
  const rightElements = elementsOf(list, right);
  if (!leftElements || !rightElements) return applied;
  return new ListMerge(
    list,
    { elements: leftElements, items: left },
    { elements: rightElements, items: right },
  ).run();
}

interface Side {
  elements: readonly PathElement[];
  items: readonly unknown[];
}

/**
 * Merges lists in the order of structured-merge-diff: items of the applied list keep their order, and an item only in the live list follows
 * the neighbour that it has there.
 */
class ListMerge {
  readonly #list: ListType;
  readonly #left: Side;
  readonly #right: Side;
  readonly #ofLeft: Map<PathElement, unknown>;
  readonly #ofRight: Map<PathElement, unknown>;
  /** Elements of both lists, in the applied order. */
  readonly #shared: readonly PathElement[];
  readonly #merged = new Set<PathElement>();
  readonly #out: unknown[] = [];
  #sharedAt = 0;
  #leftAt = 0;
  #rightAt = 0;

  constructor(list: ListType, left: Side, right: Side) {
    this.#list = list;
    this.#left = left;
    this.#right = right;
    this.#ofLeft = byElement(left);
    this.#ofRight = byElement(right);
    this.#shared = right.elements.filter((element) => this.#ofLeft.has(element));
  }

  run(): unknown[] {
    const { elements: left } = this.#left;
    const { elements: right } = this.#right;
    while (this.#leftAt < left.length || this.#rightAt < right.length) {
      if (this.#takeSame()) continue;
      if (this.#takeLive()) continue;
      this.#takeApplied();
    }
    return this.#out;
  }

  /** Merges the current items if they are the same; skips a live item that comes later in the applied order. */
  #takeSame(): boolean {
    const left = this.#left.elements[this.#leftAt];
    const right = this.#right.elements[this.#rightAt];
    if (left === undefined || right === undefined) return false;
    if (left === right) {
      this.#merge(right);
      this.#leftAt++;
      this.#rightAt++;
      this.#sharedAt++;
      return true;
    }
    const next = this.#shared[this.#sharedAt];
    if (!this.#ofRight.has(left) || next === undefined || next === left) return false;
    this.#leftAt++;
    return true;
  }

  /** Takes an item that is only in the live list. */
  #takeLive(): boolean {
    const left = this.#left.elements[this.#leftAt];
    if (left === undefined) return false;
    if (!this.#ofRight.has(left)) {
      this.#out.push(this.#left.items[this.#leftAt]);
      this.#leftAt++;
      return true;
    }
    if (this.#merged.has(left)) this.#leftAt++;
    return false;
  }

  #takeApplied(): void {
    const right = this.#right.elements[this.#rightAt];
    if (right === undefined) return;
    this.#merge(right);
    this.#rightAt++;
    if (this.#shared[this.#sharedAt] === right) this.#sharedAt++;
  }

  #merge(element: PathElement): void {
    this.#merged.add(element);
    this.#out.push(mergeTyped(this.#list.items, this.#ofLeft.get(element), this.#ofRight.get(element)));
  }
}

/** Maps duplicate items to undefined, so that the applied item replaces them. */
function byElement({ elements, items }: Side): Map<PathElement, unknown> {
  const found = new Map<PathElement, unknown>();
  for (const [index, element] of elements.entries()) {
    found.set(element, found.has(element) ? undefined : items[index]);
  }
  return found;
}
