import type { ArcError } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import { decodeCore, readsProtobuf } from '../codec/core-protobuf.ts';
import { type ParsedBody, parseBody } from '../codec/parse-body.ts';
import { decodeReview } from '../codec/review-protobuf.ts';
import { badRequest, invalidOf, unsupportedMediaType } from '../errors/api-errors.ts';
import { bodyType, parsedBodyType } from '../http/connection.ts';
import type { KindDefinition, KubeObject, ObjectMeta } from '../kinds/definition.ts';
import { apiVersionOf } from '../kinds/served-kinds.ts';
import { type ResourceRequest, yieldIfLarge } from '../request/api-request.ts';
import { readBody } from '../request/request-body.ts';
import { metadataTypeFault } from '../validation/metadata.ts';
import { checkFields } from '../validation/structural.ts';

const jsonTypes = ['', 'application/json', 'application/yaml'];
const protobuf = 'application/vnd.kubernetes.protobuf';

/** Returns the object of a POST or PUT without unknown fields. Checks it against the URL. */
export async function readObject(request: ResourceRequest): Promise<KubeObject> {
  const { definition } = request;
  const type = parsedBodyType(request.raw);
  if (type === protobuf && definition.virtual) {
    return identified(request, decodeReview(await readBody(request)));
  }
  if (type === protobuf && readsProtobuf(apiVersionOf(definition), definition.kind)) {
    return acceptObject(request, { value: decodeCore(await readBody(request)), duplicates: [] });
  }
  if (!jsonTypes.includes(type)) throw unsupportedMediaType(['application/json', 'application/yaml']);
  const body = await parseBody(await readBody(request), type);
  await yieldIfLarge(request);
  const object = acceptObject(request, body);
  await yieldIfLarge(request);
  return object;
}

/** Checks and prunes an object from a body or a patch, before defaulting and validation. */
export function acceptObject(request: ResourceRequest, body: ParsedBody, old?: KubeObject): KubeObject {
  return cleanObject(
    request,
    body.value,
    (unknown) => enforceFieldValidation(request, body.duplicates, unknown),
    old,
  );
}

/** Returns the object without unknown fields, in the namespace of the URL. @param old the stored object, which has no unknown fields */
export function cleanObject(
  request: ResourceRequest,
  value: unknown,
  onUnknownFields?: (unknown: string[]) => void,
  old?: KubeObject,
): KubeObject {
  const object = identified(request, value);
  const { pruned, unknown } = checkFields(request.definition, object, old);
  onUnknownFields?.(unknown);
  const metadata = objectMeta(object.metadata, pruned.metadata);
  if (request.namespace === '') delete metadata.namespace;
  else metadata.namespace = request.namespace;
  return { ...pruned, apiVersion: object.apiVersion, kind: object.kind, metadata };
}

/** Tells whether clients may omit apiVersion and kind, as for the built-in kinds of Kubernetes. */
function isBuiltIn({ group }: KindDefinition): boolean {
  return group === '' || group.endsWith('.k8s.io');
}

function typeOf(
  definition: KindDefinition,
  value: Record<string, unknown>,
): { apiVersion: string; kind: string } {
  const expected = apiVersionOf(definition);
  const { apiVersion, kind } = isBuiltIn(definition)
    ? { ...value, apiVersion: value.apiVersion || expected, kind: value.kind || definition.kind }
    : value;
  if (typeof kind !== 'string' || kind === '') throw badRequest("Object 'Kind' is missing in the body");
  if (apiVersion !== expected) {
    throw badRequest(
      `the API version in the data (${typeof apiVersion === 'string' ? apiVersion.slice(0, 100) : ''}) does not match the expected API version (${expected})`,
    );
  }
  if (kind !== definition.kind) {
    const message = `Invalid value: ${JSON.stringify(kind.slice(0, 100))}: must be ${definition.kind}`;
    throw invalidOf(kind.slice(0, 100), definition.group, shownName(value.metadata), [
      { reason: 'FieldValueInvalid', message, field: 'kind' },
    ]);
  }
  return { apiVersion, kind };
}

/** Checks apiVersion, kind, name and namespace against the URL. Throws BadRequest. */
function identified(request: ResourceRequest, value: unknown): KubeObject {
  const { definition, namespace, info } = request;
  if (!isRecord(value)) throw badRequest('the body must be an object');
  const { apiVersion, kind } = typeOf(definition, value);
  const metadata = isRecord(value.metadata) ? withoutNulls(value.metadata) : value.metadata;
  const fault = isRecord(metadata ?? {})
    ? metadataTypeFault({ ...(metadata ?? {}) })
    : 'metadata must be an object';
  if (fault) throw undecodable(definition, fault);
  const { name = '', namespace: ns = '' } = (metadata ?? {}) as Partial<ObjectMeta>;
  if (info.name !== '' && !name && !bodyType(request.raw).includes('apply-patch')) {
    throw badRequest(
      `the name of the object (${info.name} based on URL) was undeterminable: name must be provided`,
    );
  }
  if (info.name !== '' && name && name !== info.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${info.name})`);
  }
  if (ns !== '' && ns !== namespace && definition.scope === 'Namespaced') {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  return { ...value, apiVersion, kind, metadata: { ...(metadata ?? {}), name: name ?? '' } };
}

/** Replaces null values of labels and annotations by the empty string, as Go decodes them. */
function withoutNulls(metadata: Record<string, unknown>): Record<string, unknown> {
  const filled = { ...metadata };
  for (const field of ['labels', 'annotations']) {
    const texts = metadata[field];
    if (!isRecord(texts) || !Object.values(texts).includes(null)) continue;
    filled[field] = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, text ?? '']));
  }
  return filled;
}

function shownName(metadata: unknown): string {
  const name = isRecord(metadata) ? metadata.name : undefined;
  return typeof name === 'string' ? name.slice(0, 253) : '';
}

function undecodable(definition: KindDefinition, fault: string): ArcError {
  const { kind, version } = definition;
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${fault}`);
}

/** Limit of fields named in one response. */
const maxNamedFields = 100;

/** Applies the (valid) fieldValidation mode: Strict throws BadRequest, Warn (the default) adds warnings, Ignore does nothing. */
export function enforceFieldValidation(
  request: ResourceRequest,
  duplicates: string[],
  unknown: string[],
): void {
  const mode = request.query.get('fieldValidation') || 'Warn';
  const found = [
    ...duplicates.map((field) => `duplicate field "${field}"`),
    ...unknown.map((field) => `unknown field "${field}"`),
  ];
  if (mode === 'Ignore' || found.length === 0) return;
  if (mode === 'Warn') {
    request.warnings.push(...found);
    return;
  }
  const more = found.length > maxNamedFields ? `, and ${found.length - maxNamedFields} more` : '';
  throw undecodable(
    request.definition,
    `strict decoding error: ${found.slice(0, maxNamedFields).join(', ')}${more}`,
  );
}

/** Tells whether a metadata value is stored as absent. */
function isEmptyValue(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.keys(value).length === 0;
}

/** Tells whether a field is a resourceVersion of 0, which means unset. */
function isUnsetRevision(field: string, value: unknown): boolean {
  return field === 'resourceVersion' && value === '0';
}

/** Returns the pruned metadata without empty values and selfLink, with the original managedFields for the field manager. */
function objectMeta(given: ObjectMeta, pruned: unknown): ObjectMeta {
  const kept = Object.entries(isRecord(pruned) ? pruned : {}).filter(
    ([field, value]) =>
      !isEmptyValue(value) &&
      field !== 'managedFields' &&
      field !== 'selfLink' &&
      !isUnsetRevision(field, value),
  );
  const { managedFields } = given;
  const owners = managedFields !== undefined && managedFields !== null && { managedFields };
  return { ...Object.fromEntries(kept), ...owners, name: given.name };
}
