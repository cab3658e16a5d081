/** A JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** True for a JSON object: neither null nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Returns JSON with sorted keys and no spaces: equal values give the same text, whatever the order of their fields.
 * Undefined fields are omitted, as by JSON.stringify.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value)) ?? 'null';
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const entries: [string, unknown][] = [];
  for (const key of Object.keys(value).sort())
    if (value[key] !== undefined) entries.push([key, sorted(value[key])]);
  // Object.fromEntries defines own properties, so that a key such as __proto__ stays data. Integer-like keys come
  // first whatever their order, which is the same order every time.
  return Object.fromEntries(entries);
}

/** True when two JSON values have the same canonical JSON; an undefined field equals an absent one. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  if (isRecord(a) && isRecord(b)) return sameFields(a, b);
  if (isStructure(a) || isStructure(b) || (typeof a === 'string' && typeof b === 'string')) return false;
  return canonicalJson(a) === canonicalJson(b);
}

function isStructure(value: unknown): boolean {
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
