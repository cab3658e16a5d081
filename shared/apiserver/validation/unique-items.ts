import type { Cause } from '#shared/errors';
import { isRecord } from '#shared/meta';
import { fieldPath, type Step } from './field-path.ts';
import type { StructuralTree } from './structural.ts';

/**
 * Duplicates in sets and in lists that are maps by some of their fields, anywhere in `value`: each is named
 * at its second position. Fill in the defaults of keys first.
 */
export function duplicateCauses(tree: StructuralTree, value: unknown, steps: readonly Step[] = []): Cause[] {
  if (!tree.hasUnique) return [];
  if (Array.isArray(value)) {
    const { items, unique } = tree;
    const inside = items
      ? value.flatMap((item, index) => duplicateCauses(items, item, [...steps, index]))
      : [];
    return unique === undefined ? inside : [...repeated(unique, value, steps), ...inside];
  }
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const child = tree.fields.get(name) ?? tree.values;
    return child ? duplicateCauses(child, field, [...steps, name]) : [];
  });
}

function repeated(
  unique: NonNullable<StructuralTree['unique']>,
  list: readonly unknown[],
  steps: readonly Step[],
): Cause[] {
  const times = new Map<string, number>();
  return list.flatMap((item, index) => {
    const identity = JSON.stringify(unique === 'set' ? item : keysOf(unique, item));
    const time = (times.get(identity) ?? 0) + 1;
    times.set(identity, time);
    if (time !== 2) return [];
    const message = `Duplicate value: ${identity.slice(0, 400)}`;
    return [{ reason: 'FieldValueDuplicate', message, field: fieldPath([...steps, index]) }];
  });
}

function keysOf(keys: readonly string[], item: unknown): unknown {
  if (!isRecord(item)) return item;
  const present = keys.filter((key) => Object.hasOwn(item, key)).sort();
  return Object.fromEntries(present.map((key) => [key, item[key]]));
}
