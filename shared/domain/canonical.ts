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
  const entries = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, field]) => [key, sorted(field)] as const);
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
  return a === b || canonicalJson(a) === canonicalJson(b);
}
