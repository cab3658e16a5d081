import { parse as parseYaml } from 'yaml';
import { Revisions } from './revisions.ts';
import type { Answer } from './run.ts';

type Json = Record<string, unknown>;

/** An answer in a form that is the same on both servers if they agree. */
export interface Normal {
  code: number;
  contentType: string;
  warnings: string[];
  retryAfter: string | undefined;
  encoding: string | undefined;
  cacheControl: string | undefined;
  /** JSON of several lines, for people; of what succeeds. */
  indented: boolean;
  body: unknown;
}

/**
 * Takes out of an answer what differs between any two servers: groups, namespaces, uids, times, revisions, random
 * names, the prose that describes columns, and the order of causes and of managedFields. The revision of an object that
 * a step has captured keeps its name, so that "unchanged" and "changed" stay apart.
 */
export function normalise(answer: Answer): Normal {
  const { group = '', ns = '' } = answer.variables;
  const plain = (text: string) => text.replaceAll(group, '<group>').replaceAll(ns, '<ns>');
  const text = plain(answer.text);
  const contentType = answer.headers['content-type'] ?? '';
  const context: Context = { names: namesOf(answer), revisions: new Revisions(answer) };
  const walk = (value: unknown) => normalValue(value, context, '');
  return {
    code: answer.code,
    contentType,
    warnings: answer.warnings.flatMap((line) => plain(line).split(/, (?=299 - )/)),
    retryAfter: answer.headers['retry-after'],
    encoding: answer.headers['content-encoding'],
    cacheControl: answer.headers['cache-control'],
    indented: answer.code < 400 && /^\{\n +"/.test(text),
    body: documents(text, contentType).map(walk),
  };
}

/** By captured value of an object, the name it was captured under; namespace and group are replaced before. */
function namesOf({ variables, ofLists }: Answer): ReadonlyMap<string, string> {
  const captured = Object.entries(variables).filter(
    ([name]) => name !== 'ns' && name !== 'group' && !ofLists.has(name),
  );
  return new Map(captured.map(([name, value]) => [value, name]));
}

/** JSON, YAML or, as in a watch, one JSON document a line; anything else is a text. */
function documents(text: string, contentType: string): unknown[] {
  if (contentType.includes('yaml')) return [parseYaml(text)];
  try {
    return [JSON.parse(text)];
  } catch (caught) {
    if (!(caught instanceof SyntaxError)) throw caught;
  }
  try {
    return text
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
  } catch (caught) {
    if (!(caught instanceof SyntaxError)) throw caught;
    return [text];
  }
}

interface Context {
  names: ReadonlyMap<string, string>;
  revisions: Revisions;
}

function normalValue(value: unknown, context: Context, field: string): unknown {
  if (typeof value === 'string') return normalText(value, context, field);
  if (Array.isArray(value)) return normalList(value, context, field);
  if (typeof value !== 'object' || value === null) return value;
  return normalObject(value as Json, context);
}

function normalObject(given: Json, context: Context): Json {
  const { revisions } = context;
  if (given.type === 'BOOKMARK') revisions.replace(given.object);
  else if (typeof given.type === 'string') revisions.see(given.object);
  if (typeof given.kind === 'string' && /(List|^Table)$/.test(given.kind)) revisions.replace(given);
  const entries = Object.entries(given)
    // An empty token and none mean the same; only unstructured lists write the empty one.
    .filter(([name, value]) => name !== 'continue' || value !== '')
    .filter(([name, value]) => !isUnseenMark(name, value))
    .map(([name, value]): [string, unknown] => [name, normalValue(value, context, name)])
    .map(([name, value]): [string, unknown] => [name, name === 'f:status' ? withoutWhole(value) : value]);
  const result = Object.fromEntries(entries);
  if (typeof result.generateName === 'string' && typeof result.name === 'string') {
    result.name = result.name
      .replace(result.generateName.slice(0, 58), '')
      .replace(/^[a-z0-9]{5}$/, `${result.generateName}<random>`);
  }
  if (result.kind === 'Status' && typeof result.message === 'string')
    result.message = sortedList(result.message);
  return result;
}

/**
 * What ours says of a new object, and that therefore the first writer of its status does not own it as a whole. A definition could say
 * so by a default only, which the next write would store.
 */
function isUnseenMark(name: string, value: unknown): boolean {
  if (name === 'status') return JSON.stringify(value) === '{"observedGeneration":-1}';
  return name === 'observedGeneration' && value === -1;
}

function normalList(list: unknown[], context: Context, field: string): unknown[] {
  const items = list.map((item) => normalValue(item, context, field));
  if (field === 'columnDefinitions')
    return items.map((column) => ({ ...(column as Json), description: '<prose>' }));
  // Sorted by time, which two servers need not read in the same second.
  if (field === 'managedFields') return items.sort((a, b) => compareText(ownerOf(a), ownerOf(b)));
  if (field !== 'causes') return items;
  // The reference judges metadata twice and names some faults twice.
  const distinct = new Map(items.map((item) => [JSON.stringify(item), item]));
  return [...distinct].sort(([a], [b]) => compareText(a, b)).map(([, item]) => item);
}

/** Without the mark that the field itself is owned, and not only what is in it. */
function withoutWhole(fields: unknown): unknown {
  const { '.': _whole, ...rest } = fields as Json;
  return rest;
}

function ownerOf(entry: unknown): string {
  const { operation, manager, apiVersion, subresource } = entry as Json;
  return JSON.stringify([operation, manager, apiVersion, subresource]);
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

const uid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;

function normalText(text: string, { names }: Context, field: string): string {
  if (field === 'resourceVersion' && /^\d+$/.test(text)) return `<${names.get(text) ?? 'revision'}>`;
  if (field === 'continue' && text !== '') return '<continue>';
  if (field === 'cells' && /^(\d+[smhd])+$/.test(text)) return '<age>';
  const known = text.replace(uid, (found) => `<${names.get(found) ?? 'uid'}>`).replace(time, '<time>');
  return words.reduce((plain, [pattern, shape]) => plain.replace(pattern, shape), known);
}

/**
 * What a message says in words that belong to a decoder or a language, or with numbers of the moment: kept is what
 * it is about. The reference names protobuf among the media types, which it needs for its built-in kinds.
 */
const words: readonly (readonly [RegExp, string])[] = [
  [/current: \d+/, 'current: <revision>'],
  [/in record \(\d+\)/, 'in record (<revision>)'],
  [/too old resource version: \d+ \(\d+\)/, 'too old resource version: <a> (<b>)'],
  [/, application\/vnd\.kubernetes\.protobuf(;stream=watch)?$/, ''],
  [/ \(\*unstructured\.UnstructuredList\)$/, ''],
  [/(due to an error in our request): .*/s, '$1'],
  [
    /^\w+ in version "\w+" cannot be handled as a \w+: json: cannot unmarshal number \S+ into Go value.*/s,
    '<unreadable body>',
  ],
  [
    /(cannot be handled as a \w+: )(json: cannot unmarshal|parsing time|metadata).*/s,
    '$1<a field of the wrong type>',
  ],
  [/^( "" is invalid: patch: )?Invalid value: "(\{|\\.)(\\.|[^"\\])*": /, '$1Invalid value: <object>: '],
  [/(Object 'Kind' is missing) in .*/s, '$1'],
  [/(<object>: )(json: cannot unmarshal|metadata).*/s, '$1<a field of the wrong type>'],
  [/json patch duplicate field/, 'duplicate field'],
  [/^(Request entity too large: )?(The allowed maximum operations)/, '$2'],
  [/^the object provided is unrecognized \(must be of type \w+\): .*/s, '<unreadable body>'],
  [/^error decoding patch: .*|^Invalid JSON Patch$/s, '<unreadable body>'],
  [/^the body (is not valid|must hold|is nested|must be).*/s, '<unreadable body>'],
  [/^a (merge|JSON) patch must be .*/s, '<unreadable body>'],
  [/^error decoding YAML: .*|^invalid object type: .*/s, '<unreadable body>'],
  [/^Object 'Kind' is missing.*/s, '<unreadable body>'],
  [/^error converting YAML to JSON.*/s, '<unreadable body>'],
];

/**
 * Several errors stand in one message in an order that means nothing: between brackets, or, by structured-merge-diff, which
 * walks a Go map in a random order, one a line.
 */
function sortedList(message: string): string {
  const lines = /^(.*?: errors:\n)(.*)$/s.exec(message);
  if (lines) return `${lines[1]}${(lines[2] ?? '').split('\n').sort().join('\n')}`;
  const list = /^(.*?: )\[(.*)\]$/s.exec(message);
  return list ? `${list[1]}[${(list[2] ?? '').split(', ').sort().join(', ')}]` : message;
}
