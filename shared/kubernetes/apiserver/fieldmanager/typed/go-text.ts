import { isRecord } from '#shared/base/meta';

/** Most characters of a value in a message. */
const longest = 200;

function cut(text: string): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

/** A JSON value as Go prints it with %v: `map[a:1]`, `[x y]`. Messages of structured-merge-diff are made of these. */
export function goValue(value: unknown): string {
  return cut(plain(value));
}

function plain(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(plain).join(' ')}]`;
  if (isRecord(value)) return `map[${entries(value, plain).join(' ')}]`;
  return value === null ? '<nil>' : String(value);
}

/** As Go prints it with %#v: `"x"`, `map[string]interface {}{"a":1}`. */
export function goSyntax(value: unknown): string {
  return cut(syntax(value));
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

/** The name of the Go type that a JSON value is read into. */
export function goType(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (isRecord(value)) return 'map[string]interface {}';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
