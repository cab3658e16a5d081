import { ArcError } from '#shared/base/errors';
import { type PathElement, sortElements } from './path-element.ts';

/**
 * A set of field paths in the form of FieldsV1 on the wire, so that stored sets need no decoding: each key is a
 * step (see path-element.ts), `{}` below a step says that the path that ends there is a member, `.` says so for a path
 * that is also the beginning of longer members. Sets are never changed in place: results share parts with operands.
 */
export interface FieldSet {
  readonly [element: PathElement]: FieldSet;
}

type Growing = { [element: PathElement]: FieldSet };

export const noFields: FieldSet = {};
const self = '.';

export function isEmpty(set: FieldSet): boolean {
  for (const _element in set) return false;
  return true;
}

/** True when the path that leads to this node is a member; not for the root. */
function isMember(node: FieldSet): boolean {
  return Object.hasOwn(node, self) || isEmpty(node);
}

/** Undefined when nothing is left: a node without children would be a member. */
function node(member: boolean, children: FieldSet): FieldSet | undefined {
  if (isEmpty(children)) return member ? noFields : undefined;
  return member ? { [self]: noFields, ...children } : children;
}

function set(children: Growing, element: PathElement, child: FieldSet | undefined): void {
  if (child) children[element] = child;
}

/** Paths of `a` and of `b`. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmpty(b)) return a;
  return isEmpty(a) ? b : unionChildren(a, b);
}

/** Paths of any of the sets. By halves: each step of a set is copied a few times, however many sets there are. */
export function unionOf(sets: readonly FieldSet[]): FieldSet {
  const [first = noFields, second] = sets;
  if (second === undefined) return first;
  const middle = sets.length >> 1;
  return union(unionOf(sets.slice(0, middle)), unionOf(sets.slice(middle)));
}

function unionChildren(a: FieldSet, b: FieldSet): Growing {
  const children: Growing = {};
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

/** Paths of `a` that are not in `b`. Prefixes and extensions of a path in `b` stay. `a` itself where it has none of them. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return isEmpty(a) || isEmpty(b) ? a : differenceChildren(a, b);
}

function differenceChildren(a: FieldSet, b: FieldSet): FieldSet {
  const children: Growing = {};
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

/** Paths in both. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const children: Growing = {};
  for (const [element, child] of Object.entries(a)) {
    const other = element === self ? undefined : b[element];
    if (other === undefined) continue;
    const both = intersection(child, other);
    set(children, element, node(isMember(child) && isMember(other), both));
  }
  return children;
}

/** Paths of `a` that are not in `b` and do not begin with a path of `b`. */
export function without(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(b)) return a;
  const children: Growing = {};
  for (const [element, child] of Object.entries(a)) {
    if (element === self) continue;
    const other = b[element];
    if (other === undefined) set(children, element, child);
    else if (!isMember(other)) set(children, element, node(isMember(child), without(child, other)));
  }
  return children;
}

/** The set with the paths that end right below it made members where `chosen` says so; see named-fields.ts. */
export function withMembers(
  fields: FieldSet,
  chosen: (element: PathElement) => boolean,
  inside: (element: PathElement, child: FieldSet) => FieldSet,
): FieldSet {
  const children: Growing = {};
  for (const [element, child] of Object.entries(fields)) {
    if (element === self) continue;
    const grown = isEmpty(child) ? child : inside(element, child);
    set(children, element, node(isMember(child) || chosen(element), grown));
  }
  return children;
}

/** Whether the path of one step is a member. */
export function hasElement(fields: FieldSet, element: PathElement): boolean {
  const child = element === self ? undefined : fields[element];
  return child !== undefined && isMember(child);
}

/** The members that begin with this step and go on, without it. */
export function below(fields: FieldSet, element: PathElement): FieldSet {
  const child = fields[element];
  if (child === undefined) return noFields;
  const { [self]: _self, ...children } = child;
  return children;
}

/** Whether the path is a member. */
export function has(fields: FieldSet, path: readonly PathElement[]): boolean {
  let at: FieldSet | undefined = fields;
  for (const element of path) at = at?.[element];
  return path.length > 0 && at !== undefined && isMember(at);
}

/**
 * Every member, in the order messages list them: what stands beside each other before what is below it. The array is the
 * same each time: copy it to keep it.
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

/** The set with its steps in the order in which they are stored and shown. */
export function sorted(fields: FieldSet): FieldSet {
  const elements = Object.keys(fields);
  if (elements.length === 0) return fields;
  const result: Growing = {};
  for (const element of elements.sort()) result[element] = sorted(fields[element] ?? noFields);
  return result;
}

/** Most paths that one walk collects, more than the fields of the largest map: sets of so many are compared within a few ms. */
const mostPaths = 12_000;

/** A node that paths are being added below, and whether it has any yet. */
interface Open {
  node: Growing;
  filled: boolean;
}

/**
 * Collects paths along a walk: `enter` and `leave` follow it, `add` makes the place where it is a member. Rejects more than 12,000 with
 * RequestEntityTooLarge.
 */
export class FieldSetBuilder {
  readonly #root: Growing = {};
  #added = 0;
  readonly #path: PathElement[] = [];
  /** The nodes along the path, as far as they have been needed; the first is the root. */
  readonly #open: Open[] = [{ node: this.#root, filled: true }];

  enter(element: PathElement): void {
    this.#path.push(element);
  }

  leave(): void {
    this.#path.pop();
    if (this.#open.length > this.#path.length + 1) this.#open.pop();
  }

  /** The root of the walk, the whole object, is never a member. */
  add(): void {
    const depth = this.#path.length;
    if (this.#open.length === depth + 1) {
      const here = this.#open[depth];
      if (depth > 0 && here?.filled) here.node[self] = noFields;
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
    const known = parent.node[element] as Growing | undefined;
    const child = known ?? {};
    parent.node[element] = child;
    const filled = known !== undefined && !isEmpty(known);
    // Without children a node is a member; a member with children needs the mark, a mere beginning must not have it.
    if (known !== undefined && filled === last) child[self] = noFields;
    this.#markMember(parent);
    parent.filled = true;
    this.#open.push({ node: child, filled: filled || !last });
  }

  /** A member that gets its first child. */
  #markMember(parent: Open): void {
    if (!parent.filled) parent.node[self] = noFields;
  }

  /** The collected set. Do not use the builder afterwards. */
  result(): FieldSet {
    return this.#root;
  }
}

/** Refuses to go on with more paths than are compared within a few ms. */
export function checkPaths(count: number): void {
  if (count <= mostPaths) return;
  throw new ArcError(
    'RequestEntityTooLarge',
    `the request sets or removes more than ${mostPaths} fields that are owned one by one: split the object into several`,
  );
}
