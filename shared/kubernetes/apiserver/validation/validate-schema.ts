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

/** Redacts values of Secrets in messages and therefore in logs. */
function showFor(definition: KindDefinition): Show {
  return definition.group === '' && definition.kind === 'Secret' ? () => '"***"' : shownValue;
}

/**
 * Merges zod's output into its input: applies defaults and conversions, and keeps unknown keys of plain objects, which zod omits.
 */
function overlay(input: unknown, output: unknown): unknown {
  if (input === output) return input;
  if (Array.isArray(input) && Array.isArray(output) && input.length === output.length) {
    const items = output.map((item, index) => overlay(input[index], item));
    return items.some((item, index) => item !== input[index]) ? items : input;
  }
  if (!isRecord(input) || !isRecord(output)) return output;
  // Copies the object only if a field differs, since copying thousands of fields is slow.
  const changes: [string, unknown][] = [];
  for (const name of Object.keys(output)) {
    const value = output[name];
    if (value === undefined) continue;
    const merged = Object.hasOwn(input, name) ? overlay(input[name], value) : value;
    if (merged !== input[name]) changes.push([name, merged]);
  }
  return changes.length === 0 ? input : Object.fromEntries([...Object.entries(input), ...changes]);
}

function matchesType(type: StructuralTree['type'], value: unknown): boolean {
  const actual = typeName(value);
  return type === undefined || actual === type || (type === 'number' && actual === 'integer');
}

/** Adds type errors to `causes`, up to one above the limit. Also covers metadata, which has no zod schema. */
function addTypeCauses(causes: Cause[], tree: StructuralTree, value: unknown, steps: Step[]): void {
  if (value === undefined || (value === null && tree.nullable) || causes.length > maxCauses) return;
  if (!matchesType(tree.type, value)) {
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

/** Returns the fields that differ (!==) from the stored object, whose fields are valid. Undefined: validate all fields. */
function changedFields({ shape, def }: z.ZodObject, fields: Fields, old: Fields | undefined) {
  // Cross-field rules need all fields.
  if (!old || def.catchall || def.checks?.length) return undefined;
  return Object.keys(shape).filter((name) => fields[name] !== old[name]);
}

const parts = new WeakMap<z.ZodObject, Map<string, z.ZodObject>>();

/** Returns the schema of a single field. Cached. */
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
 * Validates an object against its schema and applies defaults. Returns the defaulted object, or the original object with the causes of all
 * errors in the words of Kubernetes. Keeps fields that the schema allows without naming them, apiVersion, kind and metadata; in metadata,
 * checks only types. Expects an object pruned by checkFields. Skips fields that are identical (===) in `old`, the stored object. Throws
 * BadRequest if the object is nested too deeply.
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
  // zod takes a second to report a hundred thousand type errors.
  const typeErrors = [...causes];
  addTypeCauses(typeErrors, tree, fields, []);
  if (typeErrors.length > maxCauses) return { object, causes: bounded(typeErrors) };
  const { data, error } = parse(definition, fields, changed);
  if (error) causes.push(...toCauses(error.issues, object, { show: showFor(definition), typeAt }));
  if (causes.length > 0) return { object, causes: bounded(causes) };
  const defaulted = overlay(fields, data);
  const duplicates = duplicateCauses(tree, defaulted);
  if (duplicates.length > 0) return { object, causes: bounded(duplicates) };
  if (defaulted === fields) return { object, causes: [] };
  return {
    object: { apiVersion, kind, metadata, ...all, ...(isRecord(defaulted) ? defaulted : fields) },
    causes: [],
  };
}
