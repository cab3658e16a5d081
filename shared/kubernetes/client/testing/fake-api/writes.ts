import { isDeepStrictEqual } from 'node:util';
import { ArcError } from '#shared/base/errors';
import { applyMergePatch, type KubeObject, type ObjectMeta } from '#shared/base/meta';
import type { ObjectStore } from './object-store.ts';
import { keyOf } from './reads.ts';
import { type ApiRequest, hasGeneration, hasStatus, initialStatus, needsVersion } from './resources.ts';
import { alreadyExists, conflict, invalid, notFound } from './status-error.ts';

/** Creates, updates, patches and deletes by the rules of the Kubernetes API. */
export class Writes {
  readonly #store: ObjectStore;
  readonly #now: () => string;
  #generated = 0;

  /** @param now the time of creates and deletes, RFC 3339 in whole seconds */
  constructor(store: ObjectStore, now: () => string) {
    this.#store = store;
    this.#now = now;
  }

  create(request: ApiRequest, body: KubeObject): KubeObject {
    const { generateName, ...given } = body.metadata as ObjectMeta & { generateName?: string };
    checkBody(request, body);
    const name =
      given.name || (generateName && `${generateName}${String(++this.#generated).padStart(5, '0')}`) || '';
    checkName(request, body.kind, name);
    if (given.resourceVersion)
      throw new ArcError('BadRequest', 'resourceVersion should not be set on objects to be created');
    const known = this.#store.find(request, { ...keyOf(request), name });
    if (known) throw alreadyExists(request, name, known.metadata.deletionTimestamp !== undefined);
    const { generation: _generation, deletionTimestamp: _deleted, ...kept } = given;
    const metadata: ObjectMeta = {
      ...kept,
      ...(generateName !== undefined && { generateName }),
      name,
      ...(request.namespace !== undefined && { namespace: request.namespace }),
      uid: this.#store.newUid(name),
      creationTimestamp: this.#now(),
      ...(hasGeneration(request) && { generation: 1 }),
    };
    const { status: sent, ...rest } = body;
    const status = hasStatus(request) ? initialStatus(request) : sent;
    return this.#store.put(request, {
      ...rest,
      ...(status !== undefined && { status }),
      metadata: withoutEmpty(metadata),
    });
  }

  update(request: ApiRequest, body: KubeObject): KubeObject {
    checkBody(request, body);
    if (body.metadata.name !== request.name)
      throw new ArcError(
        'BadRequest',
        `the name of the object (${body.metadata.name}) does not match the name on the URL (${request.name})`,
      );
    const current = this.#current(request);
    if (!body.metadata.resourceVersion && needsVersion(request))
      throw invalid(request, request.resource, request.name, [
        'FieldValueInvalid',
        'metadata.resourceVersion',
        'Invalid value: 0: must be specified for an update',
      ]);
    return this.#write(request, current, body);
  }

  /** Applies a merge patch (RFC 7386), the only type of patch that the client sends. */
  patch(request: ApiRequest, patch: object): KubeObject {
    const current = this.#current(request);
    const patched = applyMergePatch(current, patch) as KubeObject;
    if (patched.metadata.name !== request.name)
      throw new ArcError('BadRequest', 'the name of the object does not match the name on the URL');
    const { uid } = patched.metadata;
    if (uid !== current.metadata.uid)
      throw invalid(request, current.kind, request.name, [
        'FieldValueInvalid',
        'metadata.uid',
        `Invalid value: ${JSON.stringify(uid)}: field is immutable`,
      ]);
    return this.#write(request, current, patched);
  }

  /** @returns the removed object, or the object that is being deleted */
  delete(request: ApiRequest): { object: KubeObject; gone: boolean } {
    const current = this.#current(request);
    const { metadata } = current;
    const { preconditions, propagationPolicy } = (request.body ?? {}) as DeleteBody;
    checkPreconditions(request, current, preconditions);
    const finalizers = finalizersAfter(metadata.finalizers ?? [], propagationPolicy);
    if (finalizers.length === 0) {
      this.#store.remove(request, metadata);
      return { object: current, gone: true };
    }
    const deleted = metadata.deletionTimestamp !== undefined;
    const changed: KubeObject = {
      ...current,
      metadata: {
        ...metadata,
        finalizers,
        deletionTimestamp: metadata.deletionTimestamp ?? this.#now(),
        deletionGracePeriodSeconds: 0,
        ...(!deleted && metadata.generation !== undefined && { generation: metadata.generation + 1 }),
      },
    };
    const same = isDeepStrictEqual(changed, current);
    return { object: same ? current : this.#store.put(request, changed), gone: false };
  }

  #current(request: ApiRequest): KubeObject {
    const current = this.#store.find(request, keyOf(request));
    if (current === undefined) throw notFound(request);
    return current;
  }

  #write(request: ApiRequest, current: KubeObject, wanted: KubeObject): KubeObject {
    const { uid, resourceVersion } = wanted.metadata;
    if (uid && uid !== current.metadata.uid)
      throw conflict(
        request,
        `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid}`,
      );
    if (resourceVersion && resourceVersion !== current.metadata.resourceVersion) throw conflict(request);
    const next = accepted(request, current, wanted);
    checkFinalizers(request, current, next);
    if (isDeepStrictEqual(next, current)) return current;
    if (next.metadata.deletionTimestamp === undefined || next.metadata.finalizers?.length)
      return this.#store.put(request, next);
    this.#store.remove(request, next.metadata);
    return next;
  }
}

/** Returns the object after an update, which ignores status on the main resource, and everything else on the status subresource. */
function accepted(request: ApiRequest, current: KubeObject, wanted: KubeObject): KubeObject {
  if (request.subresource === 'status') return withStatus(current, wanted.status);
  const next = hasStatus(request) ? withStatus(wanted, current.status) : { ...wanted };
  const old = current.metadata;
  const { generation: _generation, ...metadata } = wanted.metadata;
  for (const field of kept) delete metadata[field];
  const changed = !isDeepStrictEqual(content(request, next), content(request, current));
  next.metadata = withoutEmpty({
    ...metadata,
    ...Object.fromEntries(Object.entries(old).filter(([field]) => kept.includes(field))),
    ...(old.generation !== undefined && { generation: old.generation + (changed ? 1 : 0) }),
  });
  return next;
}

/** Returns ObjectMeta without empty lists and maps, which the server omits. */
function withoutEmpty(metadata: ObjectMeta): ObjectMeta {
  const fields = Object.entries(metadata).filter(
    ([, value]) => typeof value !== 'object' || value === null || Object.keys(value).length > 0,
  );
  return Object.fromEntries(fields) as ObjectMeta;
}

/** Fields that clients cannot change. */
const kept: readonly string[] = [
  'namespace',
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
];

/** Returns the content whose changes increment the generation. */
function content(request: ApiRequest, { metadata: _metadata, status, ...rest }: KubeObject): object {
  return hasStatus(request) ? rest : { ...rest, status };
}

function withStatus({ status: _status, ...rest }: KubeObject, status: unknown): KubeObject {
  return { ...rest, ...(status !== undefined && { status }) } as KubeObject;
}

interface DeleteBody {
  propagationPolicy?: 'Foreground' | 'Orphan' | 'Background';
  preconditions?: { uid?: string; resourceVersion?: string };
}

function checkPreconditions(
  request: ApiRequest,
  { kind, metadata: { uid, resourceVersion } }: KubeObject,
  wanted: DeleteBody['preconditions'] = {},
): void {
  if (wanted.uid !== undefined && wanted.uid !== uid)
    throw conflict(
      request,
      `the UID in the precondition (${wanted.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
      kind,
    );
  if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== resourceVersion)
    throw conflict(
      request,
      `the ResourceVersion in the precondition (${wanted.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
      kind,
    );
}

/** Returns the finalizers for a propagation policy, which the garbage collector removes. */
function finalizersAfter(finalizers: readonly string[], policy: DeleteBody['propagationPolicy']): string[] {
  if (policy === undefined) return [...finalizers];
  const others = finalizers.filter((one) => one !== 'foregroundDeletion' && one !== 'orphan');
  const added = { Foreground: ['foregroundDeletion'], Orphan: ['orphan'], Background: [] };
  return [...others, ...added[policy]];
}

function checkFinalizers(request: ApiRequest, current: KubeObject, next: KubeObject): void {
  if (current.metadata.deletionTimestamp === undefined) return;
  const known = new Set(current.metadata.finalizers);
  const added = next.metadata.finalizers?.filter((one) => !known.has(one)) ?? [];
  if (added.length === 0) return;
  const shown = added.map((one) => JSON.stringify(one)).join(', ');
  throw invalid(request, next.kind, request.name, [
    'FieldValueForbidden',
    'metadata.finalizers',
    `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${shown}}`,
  ]);
}

function checkBody({ apiVersion, namespace }: ApiRequest, body: KubeObject): void {
  if (body.apiVersion !== apiVersion)
    throw new ArcError(
      'BadRequest',
      `the API version in the data (${body.apiVersion}) does not match the expected API version (${apiVersion})`,
    );
  if (body.metadata.namespace && body.metadata.namespace !== namespace)
    throw new ArcError(
      'BadRequest',
      'the namespace of the provided object does not match the namespace sent on the request',
    );
}

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function checkName(request: ApiRequest, kind: string, name: string): void {
  if (name === '')
    throw invalid(request, kind, name, [
      'FieldValueRequired',
      'metadata.name',
      'Required value: name or generateName is required',
    ]);
  if (name.length > 253 || !subdomain.test(name))
    throw invalid(request, kind, name, [
      'FieldValueInvalid',
      'metadata.name',
      `Invalid value: ${JSON.stringify(name)}: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
    ]);
}
