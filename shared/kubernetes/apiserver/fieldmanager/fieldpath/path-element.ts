/**
 * One step of a field path, in the form FieldsV1 writes it: `f:name` a field, `k:{"name":"a"}` the item of a list with
 * those keys, `v:"a"` the item of a set. The text is canonical, so that equal steps are equal strings.
 * The rules are those of sigs.k8s.io/structured-merge-diff, fieldpath.
 */
import { isRecord } from '#shared/base/meta';
export type PathElement = string;

/** Go escapes these in JSON; entries written by both servers must be equal. */
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

/** The item of a set. */
export function valueElement(value: unknown): PathElement {
  return `v:${goJson(value)}`;
}

/** The item of a list that has these keys, in any order. */
export function keyElement(keys: readonly (readonly [name: string, value: unknown])[]): PathElement {
  const parts = keys
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([name, value]) => `${JSON.stringify(name)}:${goJson(value)}`);
  return `k:{${parts.join(',')}}`;
}

/** The name of a field, undefined for items of lists. */
export function fieldNameOf(element: PathElement): string | undefined {
  return element.startsWith('f:') ? element.slice(2) : undefined;
}

/**
 * The canonical form of what a client wrote. Undefined for steps of a kind that we do not know, which are left out as a
 * newer server may mean something by them. Throws SyntaxError for what no server writes.
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
  throw new SyntaxError(`no path element: ${text.slice(0, 100)}`);
}

function keysOf(content: string): [string, unknown][] {
  const keys: unknown = JSON.parse(content);
  if (!isRecord(keys)) fail(content);
  return Object.entries(keys);
}

/** Most characters of a path in a message: names may be as long as a body. */
const longestPath = 2000;

/** A path as conflicts name it: `.spec.artifacts[name="a"].url`. */
export function showPath(path: readonly PathElement[]): string {
  let text = '';
  for (const element of path) {
    text += showElement(element);
    if (text.length > longestPath) return `${text.slice(0, longestPath)}…`;
  }
  return text;
}

/** One step as messages show it: `.name`, `[name="a"]`, `[="a"]`. */
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

/** Items of sets and keys are scalars; only clients that invent managedFields send anything else. */
function showValue(value: unknown): string {
  return JSON.stringify(value);
}

/** Steps in the order of messages: fields, keyed items, values, positions; each by its content. */
export function sortElements(elements: readonly PathElement[]): PathElement[] {
  return elements
    .map((element) => ({ element, kind: kinds.indexOf(element[0] ?? ''), content: contentOf(element) }))
    .sort((a, b) => a.kind - b.kind || compareContents(a.content, b.content))
    .map(({ element }) => element);
}

/** Read once for each step, not once for each comparison. */
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

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
