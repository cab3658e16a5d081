import { isRecord, sameJson } from './json.ts';

/** Applies a JSON merge patch (RFC 7396): objects are merged, null removes a field, everything else replaces. Changes no input. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const merged: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const key of Object.keys(patch)) {
    const change = patch[key];
    if (change === null) {
      delete merged[key];
      continue;
    }
    const value = applyMergePatch(fieldOf(merged, key), change);
    // A key such as __proto__ stays data.
    if (key in merged && !Object.hasOwn(merged, key))
      Object.defineProperty(merged, key, { value, configurable: true, enumerable: true, writable: true });
    else merged[key] = value;
  }
  return merged;
}

/**
 * Returns the smallest JSON merge patch (RFC 7396) from `before` to `after`; undefined if they are equal. Undefined
 * fields count as absent. A merge patch cannot express a null in `after`: null removes the field.
 */
export function mergePatchBetween(
  before: object | undefined,
  after: object,
): Record<string, unknown> | undefined {
  const patch = difference({ ...before }, { ...after });
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function difference(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): Record<string, unknown> {
  const patch = new Map<string, unknown>();
  for (const [key, old] of Object.entries(before))
    if (old !== undefined && fieldOf(after, key) === undefined) patch.set(key, null);
  for (const [key, value] of Object.entries(after)) {
    const old = fieldOf(before, key);
    if (value === undefined || sameJson(old, value)) continue;
    patch.set(key, isRecord(old) && isRecord(value) ? difference(old, value) : value);
  }
  return Object.fromEntries(patch);
}

function fieldOf(fields: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}
