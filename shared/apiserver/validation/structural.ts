import { isRecord } from '#shared/meta';
import type { KindDefinition } from '../kinds/definition.ts';
import { objectSchema } from '../openapi/kind-schema.ts';
import type { Schema } from '../openapi/schema.ts';
import { fieldPath, type Step } from './field-path.ts';

/** A schema prepared for walking objects: the fields it knows, and where unknown fields are kept. */
export interface StructuralTree {
  /** undefined when any type is allowed. */
  type: Schema['type'];
  fields: ReadonlyMap<string, StructuralTree>;
  /** For a map: the schema of its values. */
  values: StructuralTree | undefined;
  /** For a list: the schema of its items. */
  items: StructuralTree | undefined;
  /** Keeps unknown fields of this object; inside its known fields only when they say so themselves. */
  preserve: boolean;
  nullable: boolean;
  /** Items of a list must differ: as a whole ('set'), or in these fields (a map list). */
  unique: 'set' | readonly string[] | undefined;
}

/** Most unknown fields that are named: each becomes a header of the answer. Further ones are pruned silently. */
const maxNamedFields = 100;

function grow(schema: Schema): StructuralTree {
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => [name, grow(field)] as const);
  return {
    type: schema.type,
    fields: new Map(fields),
    values: schema.additionalProperties && grow(schema.additionalProperties),
    items: schema.items && grow(schema.items),
    preserve:
      schema['x-kubernetes-preserve-unknown-fields'] === true ||
      (schema.type === undefined && fields.length === 0),
    nullable: schema.nullable === true || schema.type === undefined,
    unique: uniqueOf(schema),
  };
}

function uniqueOf(schema: Schema): StructuralTree['unique'] {
  if (schema['x-kubernetes-list-type'] === 'set') return 'set';
  const keys = schema['x-kubernetes-list-map-keys'];
  return Array.isArray(keys) ? keys.map(String) : undefined;
}

const trees = new WeakMap<KindDefinition, StructuralTree>();

/** The tree of whole objects of a kind, metadata included. Made once per definition. */
export function structuralTree(definition: KindDefinition): StructuralTree {
  const known = trees.get(definition);
  if (known) return known;
  const tree = grow(objectSchema(definition));
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
  return list.map((item, index) => {
    walk.steps.push(index);
    const pruned = prune(items, item, walk);
    walk.steps.pop();
    return pruned;
  });
}

function pruneObject(tree: StructuralTree, object: Record<string, unknown>, walk: Walk): unknown {
  const kept: [string, unknown][] = [];
  for (const [name, value] of Object.entries(object)) {
    const field = tree.fields.get(name);
    const child = field ?? tree.values;
    if (child && value === null && !child.nullable) continue;
    if (!child && tree.preserve) {
      kept.push([name, value]);
      continue;
    }
    walk.steps.push(name);
    if (child) kept.push([name, prune(child, value, walk)]);
    else if (walk.unknown.length < maxNamedFields) walk.unknown.push(fieldPath(walk.steps));
    walk.steps.pop();
  }
  // fromEntries defines each key, so a field called __proto__ stays a field.
  return Object.fromEntries(kept);
}

function prune(tree: StructuralTree, value: unknown, walk: Walk): unknown {
  if (Array.isArray(value)) return pruneList(tree, value, walk);
  // Validation reports a value that should be an object and is not.
  if (!isRecord(value) || (tree.type !== 'object' && tree.type !== undefined)) return value;
  return pruneObject(tree, value, walk);
}

/**
 * Removes fields that the kind's schema does not know, at any depth, and names them: `spec.bogus`, `metadata.foo`,
 * `spec.artifacts[0].bogus` (the first 100 of them). Maps, loose objects and x-kubernetes-preserve-unknown-fields keep
 * everything. A null that the schema does not allow counts as absent, as in typed Kubernetes APIs. The body is not
 * changed; parts of it that need no pruning are shared with the result.
 */
export function checkFields(
  definition: KindDefinition,
  body: Record<string, unknown>,
): { pruned: Record<string, unknown>; unknown: string[] } {
  const walk: Walk = { steps: [], unknown: [] };
  const pruned = pruneObject(structuralTree(definition), body, walk);
  return { pruned: pruned as Record<string, unknown>, unknown: walk.unknown.sort() };
}
