import { createHash } from 'node:crypto';

/**
 * JSON with sorted keys and no spaces: equal values print the same whatever order their fields were written in.
 * Fields that are undefined are left out, as JSON.stringify does.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value)) ?? 'null';
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  const fields = value as Record<string, unknown>;
  const entries: [string, unknown][] = [];
  for (const key of Object.keys(fields).sort())
    if (fields[key] !== undefined) entries.push([key, sorted(fields[key])]);
  // Object.fromEntries defines own properties, so that a key such as __proto__ stays data. Integer-like keys come
  // first whatever their order, which is the same order every time.
  return Object.fromEntries(entries);
}

/** The first 16 hex digits of SHA-256 over the canonical JSON of `value`. */
export function shortHash(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex').slice(0, 16);
}

/** True when two JSON values are alike, whatever the order of their fields. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (!isObject(a) || !isObject(b)) return canonicalJson(a) === canonicalJson(b);
  if (!Array.isArray(a) || !Array.isArray(b))
    return !Array.isArray(a) && !Array.isArray(b) && sameFields(a, b);
  return a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function sameFields(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  const isThere = (fields: Record<string, unknown>) => (key: string) => fields[key] !== undefined;
  const keys = Object.keys(a).filter(isThere(a));
  return (
    keys.length === Object.keys(b).filter(isThere(b)).length &&
    keys.every((key) => Object.hasOwn(b, key) && b[key] !== undefined && sameJson(a[key], b[key]))
  );
}
