import { ArcError } from '#shared/base/errors';
import { type PathElement, sortElements } from './path-element.ts';

/**
 * A set of field paths in the wire format of FieldsV1, so that stored sets need no decoding. Keys are path elements. `{}` marks the path as a
 * member; `.` marks a path as a member that is also a prefix of longer members. Immutable: results share parts with operands.
 */
export interface FieldSet {
  readonly [element: PathElement]: FieldSet;
}

type MutableFieldSet = { [element: PathElement]: FieldSet };

export const noFields: FieldSet = {};
const self = '.';

export function isEmpty(set: FieldSet): boolean {
  for (const _element in set) return false;
  return true;
}

/** Tells whether the path to this node is a member. Not valid for the root. */
function isMember(node: FieldSet): boolean {
  return Object.hasOwn(node, self) || isEmpty(node);
}

/** Returns undefined for an empty non-member, because a node without children would be a member. */
function node(member: boolean, children: FieldSet): FieldSet | undefined {
  if (isEmpty(children)) return member ? noFields : undefined;
  return member ? { [self]: noFields, ...children } : children;
}

function set(children: MutableFieldSet, element: PathElement, child: FieldSet | undefined): void {
  if (child) children[element] = child;
}

/** Returns the paths in `a` or `b`. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmpty(b)) return a;
  return isEmpty(a) ? b : unionChildren(a, b);
}

/** Returns the paths in any of the sets. Divide and conquer, so that each element is copied O(log n) times. */
export function unionOf(sets: readonly FieldSet[]): FieldSet {
  const [first = noFields, second] = sets;
  if (second === undefined) return first;
  const middle = sets.length >> 1;
  return union(unionOf(sets.slice(0, middle)), unionOf(sets.slice(middle)));
}

function unionChildren(a: FieldSet, b: FieldSet): MutableFieldSet {
  const children: MutableFieldSet = {};
  for (const [element, child] of Object.entries(a)) {
    if (element === self) continue;
    const other = b[element];
    set(children, element, other === undefined ? child : unionNodes(child, other));
  }
  for (const [element, child] of Object.entries(b)) {
    if (element !== self && !Object.hasOwn(a, element)) set(children, element, child);
  }
  return children;
}

function unionNodes(a: FieldSet, b: FieldSet): FieldSet | undefined {
  return a === b ? a : node(isMember(a) || isMember(b), unionChildren(a, b));
}

/** Returns the paths in `a` that are not in `b`, including prefixes and extensions of paths in `b`. Returns `a` if nothing is removed. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return isEmpty(a) || isEmpty(b) ? a : differenceChildren(a, b);
}

function differenceChildren(a: FieldSet, b: FieldSet): FieldSet {
  const children: MutableFieldSet = {};
  let same = true;
  for (const element of Object.keys(a)) {
    if (element === self) continue;
    const child = a[element] ?? noFields;
    const other = b[element];
    const left = other === undefined ? child : differenceNodes(child, other);
    if (left !== child) same = false;
    set(children, element, left);
  }
  return same ? a : children;
}

function differenceNodes(a: FieldSet, b: FieldSet): FieldSet | undefined {
  const member = isMember(a);
  const stays = member && !isMember(b);
  const left = differenceChildren(a, b);
  if (left === a && stays === member) return a;
  const { [self]: _self, ...children } = left;
  return node(stays, children);
}

/** Returns the paths in both sets. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const children: MutableFieldSet = {};
  for (const [element, child] of Object.entries(a)) {
    const other = element === self ? undefined : b[element];
    if (other === undefined) continue;
    const both = intersection(child, other);
    set(children, element, node(isMember(child) && isMember(other), both));
  }
  return children;
}

/** Returns the paths in `a` that neither are in `b` nor have a prefix in `b` (SMD: RecursiveDifference). */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(b)) return a;
  const children: MutableFieldSet = {};
  for (const [element, child] of Object.entries(a)) {
    if (element === self) continue;
    const other = b[element];
    if (other === undefined) set(children, element, child);
    else if (!isMember(other))
      set(children, element, node(isMember(child), recursiveDifference(child, other)));
  }
  return children;
}

/** Adds the children selected by `chosen` as members, and transforms what is below them with `inside`. */
export function withMembers(
  fields: FieldSet,
  chosen: (element: PathElement) => boolean,
  inside: (element: PathElement, child: FieldSet) => FieldSet,
): FieldSet {
  const children: MutableFieldSet = {};
  for (const [element, child] of Object.entries(fields)) {
    if (element === self) continue;
    const grown = isEmpty(child) ? child : inside(element, child);
    set(children, element, node(isMember(child) || chosen(element), grown));
  }
  return children;
}

/** Tells whether a path of one element is a member. */
export function hasElement(fields: FieldSet, element: PathElement): boolean {
  const child = element === self ? undefined : fields[element];
  return child !== undefined && isMember(child);
}

/** Returns the members below an element, without that element. */
export function childrenOf(fields: FieldSet, element: PathElement): FieldSet {
  const child = fields[element];
  if (child === undefined) return noFields;
  const { [self]: _self, ...children } = child;
  return children;
}

/** Tells whether a path is a member. */
export function has(fields: FieldSet, path: readonly PathElement[]): boolean {
  let at: FieldSet | undefined = fields;
  for (const element of path) at = at?.[element];
  return path.length > 0 && at !== undefined && isMember(at);
}

/**
 * Yields every member in the order of messages: breadth first at each node. Reuses the yielded array: copy it to keep it.
 */
export function* eachPath(fields: FieldSet, prefix: PathElement[] = []): Generator<readonly PathElement[]> {
  const elements = sortElements(Object.keys(fields).filter((element) => element !== self));
  for (const element of elements) {
    if (!hasElement(fields, element)) continue;
    prefix.push(element);
    yield prefix;
    prefix.pop();
  }
  for (const element of elements) {
    prefix.push(element);
    yield* eachPath(fields[element] ?? noFields, prefix);
    prefix.pop();
  }
}

/** Returns the set with sorted elements, as it is stored. */
export function sorted(fields: FieldSet): FieldSet {
  const elements = Object.keys(fields);
  if (elements.length === 0) return fields;
  const result: MutableFieldSet = {};
  for (const element of elements.sort()) result[element] = sorted(fields[element] ?? noFields);
  return result;
}

/** Limit of paths in a set, above the fields of the largest map. Sets of this size are compared within a few milliseconds. */
const maxPaths = 12_000;

/** A node of the current path, and whether it has children. */
interface OpenNode {
  node: MutableFieldSet;
  hasChildren: boolean;
}

/**
 * Builds a set during a traversal: `enter` and `leave` change the current path, `add` adds it. Throws RequestEntityTooLarge above 12,000
 * paths.
 */
export class FieldSetBuilder {
  readonly #root: MutableFieldSet = {};
  #added = 0;
  readonly #path: PathElement[] = [];
  /** The nodes along the current path that exist so far, beginning with the root. */
  readonly #open: OpenNode[] = [{ node: this.#root, hasChildren: true }];

  enter(element: PathElement): void {
    this.#path.push(element);
  }

  leave(): void {
    this.#path.pop();
    if (this.#open.length > this.#path.length + 1) this.#open.pop();
  }

  /** Adds the current path. The root is never a member. */
  add(): void {
    const depth = this.#path.length;
    if (this.#open.length === depth + 1) {
      const here = this.#open[depth];
      if (depth > 0 && here?.hasChildren) here.node[self] = noFields;
      return;
    }
    this.#added += 1;
    checkPaths(this.#added);
    while (this.#open.length <= depth) this.#descend(this.#open.length === depth);
  }

  #descend(last: boolean): void {
    const parent = this.#open.at(-1);
    const element = this.#path[this.#open.length - 1];
    if (!parent || element === undefined) return;
    const known = parent.node[element] as MutableFieldSet | undefined;
    const child = known ?? {};
    parent.node[element] = child;
    const hasChildren = known !== undefined && !isEmpty(known);
    // A node without children is a member; a member with children needs the `.` marker.
    if (known !== undefined && hasChildren === last) child[self] = noFields;
    this.#markMember(parent);
    parent.hasChildren = true;
    this.#open.push({ node: child, hasChildren: hasChildren || !last });
  }

  /** Marks a member before it gets its first child. */
  #markMember(parent: OpenNode): void {
    if (!parent.hasChildren) parent.node[self] = noFields;
  }

  /** Returns the set. The builder must not be used afterwards. */
  result(): FieldSet {
    return this.#root;
  }
}

/** Throws RequestEntityTooLarge above the limit of paths. */
export function checkPaths(count: number): void {
  if (count <= maxPaths) return;
  throw new ArcError(
    'RequestEntityTooLarge',
    `the request sets or removes more than ${maxPaths} fields with individual ownership: split the object into several`,
  );
}
