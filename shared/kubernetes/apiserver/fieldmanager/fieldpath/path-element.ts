/**
 * An element of a field path in the format of FieldsV1: `f:name` is a field, `k:{"name":"a"}` a list item with these keys, `v:"a"` an item of
 * a set. The string is canonical, so that equal elements are equal strings. Follows sigs.k8s.io/structured-merge-diff, fieldpath.
 */
import { isRecord } from '#shared/base/meta';
export type PathElement = string;

/** Go escapes these characters in JSON; entries of both servers must be equal. */
const escapedByGo = /[<>&\u2028\u2029]/g;

function goJson(value: unknown): string {
  return JSON.stringify(value).replace(escapedByGo, escapeAsGo);
}

function escapeAsGo(letter: string): string {
  return `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

export function fieldElement(name: string): PathElement {
  return `f:${name}`;
}

/** Returns the element of an item of a set. */
export function valueElement(value: unknown): PathElement {
  return `v:${goJson(value)}`;
}

/** Returns the element of a list item with these keys, in any order. */
export function keyElement(keys: readonly (readonly [name: string, value: unknown])[]): PathElement {
  const parts = keys
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([name, value]) => `${JSON.stringify(name)}:${goJson(value)}`);
  return `k:{${parts.join(',')}}`;
}

/** Returns the name of a field; undefined for list items. */
export function fieldNameOf(element: PathElement): string | undefined {
  return element.startsWith('f:') ? element.slice(2) : undefined;
}

/**
 * Returns the canonical form of an element from a client; undefined for unknown kinds, which newer servers may write. Throws SyntaxError for
 * a malformed element.
 */
export function canonicalElement(text: string): PathElement | undefined {
  if (text[1] !== ':') throw new SyntaxError(`missing colon: ${text.slice(0, 100)}`);
  const content = text.slice(2);
  switch (text[0]) {
    case 'f':
      return text;
    case 'v':
      return valueElement(JSON.parse(content));
    case 'k':
      return keyElement(keysOf(content));
    case 'i':
      return /^-?\d{1,15}$/.test(content) ? `i:${Number(content)}` : fail(text);
    default:
      return undefined;
  }
}

function fail(text: string): never {
  throw new SyntaxError(`invalid path element: ${text.slice(0, 100)}`);
}

function keysOf(content: string): [string, unknown][] {
  const keys: unknown = JSON.parse(content);
  if (!isRecord(keys)) fail(content);
  return Object.entries(keys);
}

/** Length limit of a path in a message: field names may be as long as a body. */
const maxShownPath = 2000;

/** Formats a path for messages: `.spec.artifacts[name="a"].url`. */
export function showPath(path: readonly PathElement[]): string {
  let text = '';
  for (const element of path) {
    text += showElement(element);
    if (text.length > maxShownPath) return `${text.slice(0, maxShownPath)}…`;
  }
  return text;
}

/** Formats an element for messages: `.name`, `[name="a"]`, `[="a"]`. */
export function showElement(element: PathElement): string {
  const content = element.slice(2);
  switch (element[0]) {
    case 'f':
      return `.${content}`;
    case 'k':
      return `[${keysOf(content)
        .map(([name, value]) => `${name}=${showValue(value)}`)
        .join(',')}]`;
    case 'v':
      return `[=${showValue(JSON.parse(content))}]`;
    default:
      return `[${content}]`;
  }
}

/** Set items and keys are scalars, except in managedFields fabricated by a client. */
function showValue(value: unknown): string {
  return JSON.stringify(value);
}

/** Sorts elements for messages: fields, keyed items, values, positions; each by content. */
export function sortElements(elements: readonly PathElement[]): PathElement[] {
  return elements
    .map((element) => ({ element, kind: kinds.indexOf(element[0] ?? ''), content: contentOf(element) }))
    .sort((a, b) => a.kind - b.kind || compareContents(a.content, b.content))
    .map(({ element }) => element);
}

/** Parses the content once per element instead of once per comparison. */
function contentOf(element: PathElement): unknown {
  const content = element.slice(2);
  if (element[0] === 'f') return content;
  return element[0] === 'k' ? keysOf(content) : JSON.parse(content);
}

function compareContents(a: unknown, b: unknown): number {
  if (Array.isArray(a) && Array.isArray(b)) return compareKeys(a, b);
  return compareValues(a, b);
}

const kinds = 'fkvi';

function compareKeys(a: [string, unknown][], b: [string, unknown][]): number {
  for (const [index, [name, value]] of a.entries()) {
    const [otherName, otherValue] = b[index] ?? [];
    if (otherName === undefined) return 1;
    const order = compareText(name, otherName) || compareValues(value, otherValue);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

const ranks = ['number', 'string', 'boolean'];

function compareValues(a: unknown, b: unknown): number {
  const rank = ranks.indexOf(typeof a) - ranks.indexOf(typeof b);
  if (rank !== 0) return rank;
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return compareText(String(a), String(b));
}

export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
