import { isRecord } from '#shared/base/meta';
import { freeForm, type Schema } from './schema.ts';

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Returns a schema that accepts both variants of a field: the union of enums, the common type, or any value. */
function mergeField(a: Schema, b: Schema): Schema {
  if (same(a, b)) return a;
  if (a.type === undefined || a.type !== b.type) return freeForm(a.description);
  if (a.type === 'object') return mergeObjects([a, b], 'any');
  const description = a.description ?? b.description;
  const merged: Schema = { type: a.type, ...(description === undefined ? {} : { description }) };
  if (a.enum && b.enum) merged.enum = [...new Set([...a.enum, ...b.enum])];
  if (a.type === 'array') merged.items = mergeField(a.items ?? freeForm(), b.items ?? freeForm());
  return merged;
}

/**
 * Merges object schemas into one that accepts the values of all, since structural schemas have no alternatives. Required fields: with `any`
 * (a union) those required by every variant, with `all` (an intersection) those required by any.
 */
export function mergeObjects(variants: readonly Schema[], mode: 'any' | 'all'): Schema {
  const properties = new Map<string, Schema>();
  const required = new Map<string, number>();
  let additional: Schema | undefined;
  let preserve = false;
  for (const variant of variants) {
    for (const [name, field] of Object.entries(variant.properties ?? {})) {
      const known = properties.get(name);
      properties.set(name, known ? mergeField(known, field) : field);
    }
    for (const name of variant.required ?? []) required.set(name, (required.get(name) ?? 0) + 1);
    additional ??= variant.additionalProperties;
    preserve ||= variant['x-kubernetes-preserve-unknown-fields'] === true;
  }
  const needed = mode === 'all' ? 1 : variants.length;
  const names = [...required].filter(([, count]) => count >= needed).map(([name]) => name);
  const merged: Schema = { type: 'object' };
  if (properties.size > 0) merged.properties = Object.fromEntries(properties);
  else if (additional) merged.additionalProperties = additional;
  if (names.length > 0) merged.required = names;
  if (preserve || (additional && properties.size > 0)) merged['x-kubernetes-preserve-unknown-fields'] = true;
  return merged;
}

/** Returns the structural schema of a union: int-or-string, an object with all fields, the common type, or any value. */
export function mergeUnion(variants: readonly Schema[]): Schema {
  const [first] = variants;
  if (!first) return freeForm();
  const types = new Set(variants.map((variant) => variant.type));
  if (types.size === 2 && types.has('integer') && types.has('string')) {
    return { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] };
  }
  if (types.size !== 1 || first.type === undefined) return freeForm();
  if (first.type === 'object') return mergeObjects(variants, 'any');
  return variants.reduce(mergeField);
}

/** Returns the structural schema of an intersection. */
export function mergeIntersection(parts: readonly Schema[]): Schema {
  if (parts.every((part) => part.type === 'object')) return mergeObjects(parts, 'all');
  return parts.find((part) => isRecord(part) && part.type !== undefined) ?? freeForm();
}
