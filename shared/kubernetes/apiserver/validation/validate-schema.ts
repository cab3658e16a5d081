import type { z } from 'zod';
import { ArcError, type Cause } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import type { KindDefinition, KubeObject } from '../kinds/definition.ts';
import {
  bounded,
  fieldPath,
  maxCauses,
  type Show,
  type Step,
  shownValue,
  toCauses,
  typeCause,
  typeName,
} from './causes.ts';
import { duplicateCauses, type StructuralTree, structuralTree } from './structural.ts';

/** Values of a Secret never appear in messages, and so never in logs. */
function showFor(definition: KindDefinition): Show {
  return definition.group === '' && definition.kind === 'Secret' ? () => '"***"' : shownValue;
}

/**
 * zod's output laid over the input: its defaults and conversions count, but nothing the input had is lost, though
 * zod leaves unknown keys of plain objects out.
 */
function overlay(input: unknown, output: unknown): unknown {
  if (input === output) return input;
  if (Array.isArray(input) && Array.isArray(output) && input.length === output.length) {
    const items = output.map((item, index) => overlay(input[index], item));
    return items.some((item, index) => item !== input[index]) ? items : input;
  }
  if (!isRecord(input) || !isRecord(output)) return output;
  // A new object is made only where something differs: to build one with thousands of fields takes long.
  const changes: [string, unknown][] = [];
  for (const name of Object.keys(output)) {
    const value = output[name];
    if (value === undefined) continue;
    const laid = Object.hasOwn(input, name) ? overlay(input[name], value) : value;
    if (laid !== input[name]) changes.push([name, laid]);
  }
  return changes.length === 0 ? input : Object.fromEntries([...Object.entries(input), ...changes]);
}

function fits(type: StructuralTree['type'], value: unknown): boolean {
  const is = typeName(value);
  return type === undefined || is === type || (type === 'number' && is === 'integer');
}

/** Checks types alone, by the tree: all of metadata, which has no zod schema. Adds to `causes` until there are more than can be named. */
function addTypeCauses(causes: Cause[], tree: StructuralTree, value: unknown, steps: Step[]): void {
  if (value === undefined || (value === null && tree.nullable) || causes.length > maxCauses) return;
  if (!fits(tree.type, value)) {
    causes.push(typeCause(fieldPath(steps), value, tree.type ?? 'another'));
    return;
  }
  if (Array.isArray(value)) {
    const { items } = tree;
    if (items)
      for (let index = 0; index < value.length; index++) below(causes, items, value[index], steps, index);
    return;
  }
  if (!isRecord(value)) return;
  for (const name of Object.keys(value)) {
    const child = tree.fields.get(name) ?? tree.values;
    if (child) below(causes, child, value[name], steps, name);
  }
}

function below(causes: Cause[], tree: StructuralTree, value: unknown, steps: Step[], step: Step): void {
  steps.push(step);
  addTypeCauses(causes, tree, value, steps);
  steps.pop();
}

function subtree(tree: StructuralTree, steps: readonly Step[]): StructuralTree | undefined {
  let at: StructuralTree | undefined = tree;
  for (const step of steps) at = typeof step === 'number' ? at?.items : (at?.fields.get(step) ?? at?.values);
  return at;
}

type Fields = Record<string, unknown>;

/** Names of the fields that are not those of the stored object itself, which were judged when they were written. Undefined: all count. */
function changedFields({ shape, def }: z.ZodObject, fields: Fields, old: Fields | undefined) {
  // Rules over several fields need them all.
  if (!old || def.catchall || def.checks?.length) return undefined;
  return Object.keys(shape).filter((name) => fields[name] !== old[name]);
}

const parts = new WeakMap<z.ZodObject, Map<string, z.ZodObject>>();

/** The schema of one field alone, made once. */
function partOf(schema: z.ZodObject, name: string): z.ZodObject {
  const known = parts.get(schema) ?? new Map<string, z.ZodObject>();
  parts.set(schema, known);
  const part = known.get(name) ?? schema.pick({ [name]: true } as Parameters<z.ZodObject['pick']>[0]);
  known.set(name, part);
  return part;
}

function parse({ kind, schema }: KindDefinition, fields: Fields, changed: readonly string[] | undefined) {
  try {
    if (!changed) return schema.safeParse(fields);
    const data: Fields = {};
    const issues: z.core.$ZodIssue[] = [];
    for (const name of changed) {
      const result = partOf(schema, name).safeParse(fields);
      Object.assign(data, result.data);
      issues.push(...(result.error?.issues ?? []));
    }
    return { data, error: issues.length > 0 ? { issues } : undefined };
  } catch (caught) {
    if (caught instanceof RangeError) {
      throw new ArcError('BadRequest', `the ${kind} is nested too deeply`, { cause: caught });
    }
    throw ArcError.from(caught);
  }
}

/**
 * Checks an object against its kind and fills in defaults. Without causes, `object` is the one to store: what the
 * schema allows beyond the fields it names is kept, and so are apiVersion, kind and metadata as they are (only the
 * types inside metadata are checked). With causes, which name every wrong field in the words of Kubernetes,
 * it is the object given. Prune with checkFields first. Fields that are those of `old` itself, the stored object, are not judged again.
 * Rejects with BadRequest where recursion would not end.
 */
export function validateSchema(
  definition: KindDefinition,
  object: KubeObject,
  old?: KubeObject,
): { object: KubeObject; causes: Cause[] } {
  const { apiVersion, kind, metadata, ...all } = object;
  const changed = changedFields(definition.schema, all, old);
  const fields = changed
    ? Object.fromEntries(changed.flatMap((name) => (name in all ? [[name, all[name]]] : [])))
    : all;
  const tree = structuralTree(definition);
  const metadataTree = tree.fields.get('metadata');
  const typeAt = (steps: readonly Step[]) => subtree(tree, steps)?.type;
  const causes: Cause[] = [];
  if (metadataTree && metadata !== old?.metadata) addTypeCauses(causes, metadataTree, metadata, ['metadata']);
  // A hundred thousand wrong types would take zod a second to list.
  const wrong = [...causes];
  addTypeCauses(wrong, tree, fields, []);
  if (wrong.length > maxCauses) return { object, causes: bounded(wrong) };
  const { data, error } = parse(definition, fields, changed);
  if (error) causes.push(...toCauses(error.issues, object, { show: showFor(definition), typeAt }));
  if (causes.length > 0) return { object, causes: bounded(causes) };
  const filled = overlay(fields, data);
  const repeated = duplicateCauses(tree, filled);
  if (repeated.length > 0) return { object, causes: bounded(repeated) };
  if (filled === fields) return { object, causes: [] };
  return {
    object: { apiVersion, kind, metadata, ...all, ...(isRecord(filled) ? filled : fields) },
    causes: [],
  };
}
