import type { Cause } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import { fieldPath, type Step } from './field-path.ts';
import type { StructuralTree } from './structural.ts';

/**
 * Duplicates in sets and in lists that are maps by some of their fields, anywhere in `value`: each is named
 * at its second position. Fill in the defaults of keys first.
 */
export function duplicateCauses(tree: StructuralTree, value: unknown): Cause[] {
  const causes: Cause[] = [];
  collect(causes, tree, value, []);
  return causes;
}

function collect(causes: Cause[], tree: StructuralTree, value: unknown, steps: Step[]): void {
  if (!tree.hasUnique) return;
  const inside = (child: StructuralTree, item: unknown, step: Step) => {
    if (!child.hasUnique) return;
    steps.push(step);
    collect(causes, child, item, steps);
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
