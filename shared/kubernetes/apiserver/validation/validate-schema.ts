import { ArcError, type Cause } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import type { KindDefinition, KubeObject } from '../kinds/definition.ts';
import { bounded, maxCauses, type Show, toCauses, typeCause } from './causes.ts';
import { fieldPath, type Step } from './field-path.ts';
import { shownValue, typeName } from './shown-value.ts';
import { type StructuralTree, structuralTree } from './structural.ts';
import { duplicateCauses } from './unique-items.ts';

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

function parse(definition: KindDefinition, fields: Record<string, unknown>) {
  try {
    return definition.schema.safeParse(fields);
  } catch (caught) {
    if (caught instanceof RangeError) {
      throw new ArcError('BadRequest', `the ${definition.kind} is nested too deeply`, { cause: caught });
    }
    throw ArcError.from(caught);
  }
}

/**
 * Checks an object against its kind and fills in defaults. Without causes, `object` is the one to store: what the
 * schema allows beyond the fields it names is kept, and so are apiVersion, kind and metadata as they are (only the
 * types inside metadata are checked). With causes, which name every wrong field in the words of Kubernetes,
 * it is the object given. Prune with checkFields first. Rejects with BadRequest where recursion would not end.
 */
export function validateSchema(
  definition: KindDefinition,
  object: KubeObject,
): { object: KubeObject; causes: Cause[] } {
  const { apiVersion, kind, metadata, ...fields } = object;
  const tree = structuralTree(definition);
  const metadataTree = tree.fields.get('metadata');
  const typeAt = (steps: readonly Step[]) => subtree(tree, steps)?.type;
  const causes: Cause[] = [];
  if (metadataTree) addTypeCauses(causes, metadataTree, metadata, ['metadata']);
  // A hundred thousand wrong types would take zod a second to list.
  const wrong = [...causes];
  addTypeCauses(wrong, tree, fields, []);
  if (wrong.length > maxCauses) return { object, causes: bounded(wrong) };
  const result = parse(definition, fields);
  if (!result.success)
    causes.push(...toCauses(result.error.issues, object, { show: showFor(definition), typeAt }));
  if (causes.length > 0 || !result.success) return { object, causes: bounded(causes) };
  const filled = overlay(fields, result.data);
  const repeated = duplicateCauses(tree, filled);
  if (repeated.length > 0) return { object, causes: bounded(repeated) };
  return { object: { apiVersion, kind, metadata, ...(isRecord(filled) ? filled : fields) }, causes: [] };
}
