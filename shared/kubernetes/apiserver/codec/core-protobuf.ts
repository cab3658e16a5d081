import { ArcError } from '#shared/base/errors';
import { readBytes, readInteger, readMessage, readText, type WireField } from './protobuf.ts';

/**
 * Decoders for the kinds that kubectl creates in protobuf without falling back to JSON (`kubectl create namespace|secret|configmap|…`).
 * Field numbers: generated.proto of k8s.io/api core/v1 and k8s.io/apimachinery meta/v1 and runtime.
 */
type Read = (field: WireField) => unknown;

interface Rule {
  name: string;
  read: Read;
  /** `map`: each field is an entry with key (1) and value (2); `list`: each field is an item. */
  many?: 'map' | 'list';
}

type Rules = Readonly<Record<number, Rule>>;

const base64: Read = (field) => Buffer.from(readBytes(field)).toString('base64');
const flag: Read = (field) => readInteger(field) !== 0;

const objectMeta: Rules = {
  1: { name: 'name', read: readText },
  2: { name: 'generateName', read: readText },
  3: { name: 'namespace', read: readText },
  5: { name: 'uid', read: readText },
  6: { name: 'resourceVersion', read: readText },
  11: { name: 'labels', read: readText, many: 'map' },
  12: { name: 'annotations', read: readText, many: 'map' },
  14: { name: 'finalizers', read: readText, many: 'list' },
};

const metadata: Rule = { name: 'metadata', read: (field) => fieldsOf(readBytes(field), objectMeta) };

const kinds: Readonly<Record<string, Rules>> = {
  'v1 Namespace': { 1: metadata },
  'v1 ServiceAccount': { 1: metadata },
  'v1 ConfigMap': {
    1: metadata,
    2: { name: 'data', read: readText, many: 'map' },
    3: { name: 'binaryData', read: base64, many: 'map' },
    4: { name: 'immutable', read: flag },
  },
  'v1 Secret': {
    1: metadata,
    2: { name: 'data', read: base64, many: 'map' },
    3: { name: 'type', read: readText },
    4: { name: 'stringData', read: readText, many: 'map' },
    5: { name: 'immutable', read: flag },
  },
};

const typeMeta: Rules = { 1: { name: 'apiVersion', read: readText }, 2: { name: 'kind', read: readText } };

const magic = Buffer.from('k8s\0');

/** Tells whether `decodeCore` supports the kind. */
export function readsProtobuf(apiVersion: string, kind: string): boolean {
  return Object.hasOwn(kinds, `${apiVersion} ${kind}`);
}

/** Returns the JSON form of a core object. Throws BadRequest for malformed bytes, UnsupportedMediaType for other kinds. */
export function decodeCore(bytes: Uint8Array): Record<string, unknown> {
  if (!Buffer.from(bytes.subarray(0, 4)).equals(magic)) {
    throw new ArcError('BadRequest', 'the protobuf body does not start with the Kubernetes magic number');
  }
  const envelope = readMessage(bytes.subarray(4));
  const part = (number: number) => envelope.find((field) => field.number === number);
  const [head, raw] = [part(1), part(2)];
  const { apiVersion, kind } = head ? fieldsOf(readBytes(head), typeMeta) : {};
  const rules = readsProtobuf(`${apiVersion}`, `${kind}`) ? kinds[`${apiVersion} ${kind}`] : undefined;
  if (kind === undefined) throw new ArcError('BadRequest', "Object 'Kind' is missing in the body");
  if (!rules) throw new ArcError('UnsupportedMediaType', `protobuf is not supported for ${kind}: send JSON`);
  return { apiVersion, kind, metadata: {}, ...(raw && fieldsOf(readBytes(raw), rules)) };
}

/** Decodes the fields of a message by their rules. An empty string means unset in protobuf. */
function fieldsOf(bytes: Uint8Array, rules: Rules): Record<string, unknown> {
  const values = new Map<string, unknown>();
  const maps = new Map<string, [string, unknown][]>();
  for (const field of readMessage(bytes)) {
    const rule = rules[field.number];
    if (!rule) continue;
    if (rule.many === 'map') maps.set(rule.name, [...(maps.get(rule.name) ?? []), entryOf(field, rule.read)]);
    else if (rule.many === 'list')
      values.set(rule.name, [...asList(values.get(rule.name)), rule.read(field)]);
    else if (rule.read(field) !== '') values.set(rule.name, rule.read(field));
  }
  for (const [name, entries] of maps) values.set(name, Object.fromEntries(entries));
  return Object.fromEntries(values);
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function entryOf(field: WireField, read: Read): [string, unknown] {
  const parts = readMessage(readBytes(field));
  const [key, value] = [1, 2].map((number) => parts.find((part) => part.number === number));
  return [key ? readText(key) : '', value ? read(value) : ''];
}
