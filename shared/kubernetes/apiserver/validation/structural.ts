import type { Cause } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import type { KindDefinition } from '../kinds/definition.ts';
import { objectSchema } from '../openapi/kind-schema.ts';
import type { Schema } from '../openapi/schema.ts';
import { fieldPath, type Step } from './causes.ts';

/** A schema prepared for traversing objects: its fields, and where unknown fields are preserved. */
export interface StructuralTree {
  /** Undefined: any type. */
  type: Schema['type'];
  fields: ReadonlyMap<string, StructuralTree>;
  /** The schema of the values of a map. */
  values: StructuralTree | undefined;
  /** The schema of the items of a list. */
  items: StructuralTree | undefined;
  /** Preserves unknown fields of this object, but not of its known fields. */
  preserve: boolean;
  nullable: boolean;
  /** Uniqueness of list items: as a whole ('set'), or by these fields (list-type map). */
  unique: 'set' | readonly string[] | undefined;
  /** Whether this list or a list anywhere below has `unique`. */
  hasUnique: boolean;
}

/** Limit of reported unknown fields, each of which becomes a response header. Further fields are pruned silently. */
const maxNamedFields = 100;

function treeOf(schema: Schema): StructuralTree {
  const fields = Object.entries(schema.properties ?? {}).map(
    ([name, field]) => [name, treeOf(field)] as const,
  );
  const values = schema.additionalProperties && treeOf(schema.additionalProperties);
  const items = schema.items && treeOf(schema.items);
  const unique = uniqueOf(schema);
  const children = [...fields.map(([, field]) => field), values, items];
  return {
    type: schema.type,
    fields: new Map(fields),
    values,
    items,
    preserve:
      schema['x-kubernetes-preserve-unknown-fields'] === true ||
      (schema.type === undefined && fields.length === 0),
    nullable: schema.nullable === true || schema.type === undefined,
    unique,
    hasUnique: unique !== undefined || children.some((child) => child?.hasUnique === true),
  };
}

function uniqueOf(schema: Schema): StructuralTree['unique'] {
  if (schema['x-kubernetes-list-type'] === 'set') return 'set';
  const keys = schema['x-kubernetes-list-map-keys'];
  return Array.isArray(keys) ? keys.map(String) : undefined;
}

const trees = new WeakMap<KindDefinition, StructuralTree>();

/** Returns the tree of a kind, including metadata. Cached per definition. */
export function structuralTree(definition: KindDefinition): StructuralTree {
  const known = trees.get(definition);
  if (known) return known;
  const tree = treeOf(objectSchema(definition));
  trees.set(definition, tree);
  return tree;
}

interface Walk {
  steps: Step[];
  unknown: string[];
}

function pruneList(tree: StructuralTree, list: readonly unknown[], walk: Walk): unknown {
  const { items } = tree;
  if (!items) return list;
  let changed = false;
  const pruned = list.map((item, index) => {
    walk.steps.push(index);
    const kept = prune(items, item, walk);
    walk.steps.pop();
    changed ||= kept !== item;
    return kept;
  });
  return changed ? pruned : list;
}

/** Copies the object only if a field is removed or changed, since copying thousands of fields is slow. */
function pruneObject(
  tree: StructuralTree,
  object: Record<string, unknown>,
  walk: Walk,
  known: Record<string, unknown> = {},
): object {
  if (tree.preserve && tree.fields.size === 0 && !tree.values) return object;
  let kept: [string, unknown][] | undefined;
  const names = Object.keys(object);
  for (let at = 0; at < names.length; at++) {
    const name = names[at] ?? '';
    const value = object[name];
    walk.steps.push(name);
    const isKnown = typeof value === 'object' && value !== null && known[name] === value;
    const pruned = isKnown ? value : pruneField(tree, name, value, walk);
    walk.steps.pop();
    if (pruned !== value) kept ??= names.slice(0, at).map((one) => [one, object[one]]);
    if (pruned !== gone) kept?.push([name, pruned]);
  }
  // fromEntries defines properties, so a field called __proto__ is kept.
  return kept ? Object.fromEntries(kept) : object;
}

/** Marks a removed field. */
const gone = Symbol('gone');

function pruneField(tree: StructuralTree, name: string, value: unknown, walk: Walk): unknown {
  const child = tree.fields.get(name) ?? tree.values;
  if (child) return value === null && !child.nullable ? gone : prune(child, value, walk);
  if (tree.preserve) return value;
  if (walk.unknown.length < maxNamedFields) walk.unknown.push(fieldPath(walk.steps));
  return gone;
}

function prune(tree: StructuralTree, value: unknown, walk: Walk): unknown {
  if (Array.isArray(value)) return pruneList(tree, value, walk);
  // Validation reports a value that should be an object and is not.
  if (!isRecord(value) || (tree.type !== 'object' && tree.type !== undefined)) return value;
  return pruneObject(tree, value, walk);
}

/**
 * Prunes unknown fields at any depth and returns the paths of the first 100, such as `spec.artifacts[0].bogus`. Preserves maps, loose objects
 * and x-kubernetes-preserve-unknown-fields. Treats a null that the schema does not allow as absent, as typed Kubernetes APIs do. Does not
 * mutate the body; the result shares unchanged parts with it. Skips fields that are identical (===) in `old`.
 */
export function checkFields(
  definition: KindDefinition,
  body: Record<string, unknown>,
  old: Record<string, unknown> = {},
): { pruned: Record<string, unknown>; unknown: string[] } {
  const walk: Walk = { steps: [], unknown: [] };
  const pruned = pruneObject(structuralTree(definition), body, walk, old);
  return { pruned: pruned as Record<string, unknown>, unknown: walk.unknown.sort() };
}

/**
 * Returns the duplicates in lists of type set and map anywhere in `value`, each at its second position. Expects keys with defaults
 * applied.
 */
export function duplicateCauses(tree: StructuralTree, value: unknown): Cause[] {
  const causes: Cause[] = [];
  collectDuplicates(causes, tree, value, []);
  return causes;
}

function collectDuplicates(causes: Cause[], tree: StructuralTree, value: unknown, steps: Step[]): void {
  if (!tree.hasUnique) return;
  const inside = (child: StructuralTree, item: unknown, step: Step) => {
    if (!child.hasUnique) return;
    steps.push(step);
    collectDuplicates(causes, child, item, steps);
    steps.pop();
  };
  if (Array.isArray(value)) {
    const { items, unique } = tree;
    if (unique !== undefined) addRepeated(causes, unique, value, steps);
    if (items) for (let index = 0; index < value.length; index++) inside(items, value[index], index);
    return;
  }
  if (!isRecord(value)) return;
  for (const name of Object.keys(value)) {
    const child = tree.fields.get(name) ?? tree.values;
    if (child) inside(child, value[name], name);
  }
}

function addRepeated(
  causes: Cause[],
  unique: NonNullable<StructuralTree['unique']>,
  list: readonly unknown[],
  steps: readonly Step[],
): void {
  if (list.length < 2) return;
  const times = new Map<string, number>();
  for (const [index, item] of list.entries()) {
    const identity = JSON.stringify(unique === 'set' ? item : keysOf(unique, item));
    const time = (times.get(identity) ?? 0) + 1;
    times.set(identity, time);
    if (time !== 2) continue;
    const message = `Duplicate value: ${identity.slice(0, 400)}`;
    causes.push({ reason: 'FieldValueDuplicate', message, field: fieldPath([...steps, index]) });
  }
}

function keysOf(keys: readonly string[], item: unknown): unknown {
  if (!isRecord(item)) return item;
  const present = keys.filter((key) => Object.hasOwn(item, key)).sort();
  return Object.fromEntries(present.map((key) => [key, item[key]]));
}
