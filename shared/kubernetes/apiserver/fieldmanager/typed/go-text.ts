import { isRecord } from '#shared/base/meta';

/** Length limit of a value in a message. */
const maxLength = 200;

function truncate(text: string): string {
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}

/** Formats a JSON value like Go's %v: `map[a:1]`, `[x y]`. Used in messages of structured-merge-diff. */
export function goValue(value: unknown): string {
  return truncate(plain(value));
}

function plain(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(plain).join(' ')}]`;
  if (isRecord(value)) return `map[${entries(value, plain).join(' ')}]`;
  return value === null ? '<nil>' : String(value);
}

/** Formats a JSON value like Go's %#v: `"x"`, `map[string]interface {}{"a":1}`. */
export function goSyntax(value: unknown): string {
  return truncate(syntax(value));
}

function syntax(value: unknown): string {
  if (Array.isArray(value)) return `[]interface {}{${value.map(syntax).join(', ')}}`;
  if (isRecord(value)) return `map[string]interface {}{${entries(value, syntax, JSON.stringify).join(', ')}}`;
  return value === null ? 'interface {}(nil)' : JSON.stringify(value);
}

function entries(
  map: Record<string, unknown>,
  show: (value: unknown) => string,
  quote: (name: string) => string = String,
): string[] {
  return Object.keys(map)
    .sort()
    .map((name) => `${quote(name)}:${show(map[name])}`);
}

/** Returns the Go type into which a JSON value is decoded. */
export function goType(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (isRecord(value)) return 'map[string]interface {}';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
