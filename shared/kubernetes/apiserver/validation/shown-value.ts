/** Most characters of a user's value in an error message. */
const longest = 128;

/** A value in an error message: strings quoted, the rest as JSON, cut to size, credentials in URLs masked. */
export function shownValue(value: unknown): string {
  const text = value === undefined ? 'null' : JSON.stringify(value);
  const masked = text.replace(/(\/\/)[^\s/"@]*@/g, '$1***@');
  return masked.length > longest ? `${masked.slice(0, longest)}…` : masked;
}

/** The JSON type of a value; `integer` for whole numbers. */
export function typeName(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}
