import { ArcError } from '#shared/base/errors';
import { readBytes, readInteger, readMessage, readText, type WireField } from './protobuf.ts';

/** The JSON form of the objects that decodeReview reads. */
export interface DecodedBody {
  apiVersion: string;
  kind: string;
  [field: string]: unknown;
}

/** How to read one field: the name it has in JSON, and its form. */
interface FieldRule {
  name: string;
  read(field: WireField): unknown;
  repeated?: boolean;
}

/** Field number -> rule. Other numbers are skipped, as protobuf requires. */
type MessageRules = Readonly<Record<number, FieldRule>>;

/** `k8s` and a zero byte precede every protobuf body of Kubernetes. */
const magic = [0x6b, 0x38, 0x73, 0x00];

function text(name: string): FieldRule {
  return { name, read: readText };
}

function message(name: string, rules: MessageRules): FieldRule {
  return { name, read: (field) => readBy(readBytes(field), rules) };
}

function readBy(bytes: Uint8Array, rules: MessageRules): Record<string, unknown> {
  const values = new Map<string, unknown>();
  for (const field of readMessage(bytes)) {
    const rule = rules[field.number];
    if (!rule) continue;
    const value = rule.read(field);
    const known = values.get(rule.name);
    if (rule.repeated) values.set(rule.name, Array.isArray(known) ? [...known, value] : [value]);
    else values.set(rule.name, value);
  }
  return Object.fromEntries(values);
}

// Field numbers: generated.proto of k8s.io/api authorization/v1, k8s.io/apimachinery runtime and meta/v1 (0.34).
const resourceAttributes: MessageRules = {
  1: text('namespace'),
  2: text('verb'),
  3: text('group'),
  4: text('version'),
  5: text('resource'),
  6: text('subresource'),
  7: text('name'),
};

const bodies: Readonly<Record<string, MessageRules>> = {
  'authorization.k8s.io/v1 SelfSubjectAccessReview': {
    2: message('spec', {
      1: message('resourceAttributes', resourceAttributes),
      2: message('nonResourceAttributes', { 1: text('path'), 2: text('verb') }),
    }),
  },
  'authorization.k8s.io/v1 SelfSubjectRulesReview': { 2: message('spec', { 1: text('namespace') }) },
  'authentication.k8s.io/v1 SelfSubjectReview': {},
};

const deleteOptions: MessageRules = {
  1: { name: 'gracePeriodSeconds', read: readInteger },
  2: message('preconditions', { 1: text('uid'), 2: text('resourceVersion') }),
  3: { name: 'orphanDependents', read: (field) => readInteger(field) !== 0 },
  4: text('propagationPolicy'),
  5: { ...text('dryRun'), repeated: true },
};

const envelope: MessageRules = {
  1: message('typeMeta', { 1: text('apiVersion'), 2: text('kind') }),
  2: { name: 'raw', read: readBytes },
};

function textOf(values: unknown, name: string): string {
  const value = new Map(Object.entries(values ?? {})).get(name);
  return typeof value === 'string' ? value : '';
}

/**
 * Reads the protobuf bodies that kubectl sends even to servers that support only JSON (`auth can-i`, `auth whoami`):
 * the runtime.Unknown envelope around a SelfSubjectAccessReview, SelfSubjectRulesReview, SelfSubjectReview or
 * DeleteOptions (of any group). The result is the object as JSON would have it; selectors inside a review are left
 * out, which asks for no less than the review did. Other kinds reject with UnsupportedMediaType, so that clients
 * turn to JSON; bytes that are no such message reject with BadRequest.
 */
export function decodeReview(bytes: Uint8Array): DecodedBody {
  if (!magic.every((byte, index) => bytes[index] === byte)) {
    throw new ArcError('BadRequest', 'the protobuf body does not start with the mark of Kubernetes objects');
  }
  const { typeMeta, raw } = readBy(bytes.subarray(magic.length), envelope);
  const apiVersion = textOf(typeMeta, 'apiVersion');
  const kind = textOf(typeMeta, 'kind');
  const rules = kind === 'DeleteOptions' ? deleteOptions : bodies[`${apiVersion} ${kind}`];
  if (!rules) {
    throw new ArcError(
      'UnsupportedMediaType',
      `protobuf is not supported for ${kind || 'this body'}: send JSON`,
    );
  }
  const content = raw instanceof Uint8Array ? raw : new Uint8Array();
  const metadata = kind === 'DeleteOptions' ? {} : { metadata: {} };
  return { apiVersion, kind, ...metadata, ...readBy(content, rules) };
}
