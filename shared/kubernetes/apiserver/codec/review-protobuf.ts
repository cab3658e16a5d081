import { ArcError } from '#shared/base/errors';
import { readBytes, readInteger, readMessage, readText, type WireField } from './protobuf.ts';

/** The JSON form of a decoded object. */
export interface DecodedBody {
  apiVersion: string;
  kind: string;
  [field: string]: unknown;
}

/** The JSON name and decoder of a field. */
interface FieldRule {
  name: string;
  read(field: WireField): unknown;
  repeated?: boolean;
}

/** Rules by field number. Unknown numbers are skipped, as protobuf requires. */
type MessageRules = Readonly<Record<number, FieldRule>>;

/** The prefix of every protobuf body in Kubernetes: `k8s` and a zero byte. */
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
 * Returns the JSON form of a SelfSubjectAccessReview, SelfSubjectRulesReview, SelfSubjectReview or DeleteOptions (of any group) in a
 * runtime.Unknown envelope. kubectl sends these in protobuf even to servers that support only JSON (`auth can-i`, `auth whoami`). Omits
 * selectors in reviews, which can only make the review stricter. Throws UnsupportedMediaType for other kinds, so that clients fall
 * back to JSON, and BadRequest for malformed bytes.
 */
export function decodeReview(bytes: Uint8Array): DecodedBody {
  if (!magic.every((byte, index) => bytes[index] === byte)) {
    throw new ArcError('BadRequest', 'the protobuf body does not start with the Kubernetes magic number');
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
