import { randomInt, randomUUID } from 'node:crypto';
import { ArcError } from '#shared/base/errors';
import { isoSeconds } from '#shared/base/meta';
import { alreadyExists, badRequest, invalid } from '../errors/api-errors.ts';
import type { KubeObject } from '../kinds/definition.ts';
import { objectKey } from '../registry/keys.ts';
import { decodeObject, encodeObject } from '../registry/stored-object.ts';
import { type ResourceRequest, yieldIfLarge } from '../request/api-request.ts';
import { respondObject, respondWritten, type Written } from '../response/respond.ts';
import { generatedPrefix } from '../validation/metadata.ts';
import { checkSize } from '../validation/object-size.ts';
import { validateSchema } from '../validation/validate-schema.ts';
import { admitWrite } from './admit-write.ts';
import { type ManagedFieldsOf, trackManagedFields, withManagedFields } from './field-manager.ts';
import { readObject } from './object-input.ts';
import { checkManager, isDryRun } from './query-options.ts';
import { createWithinQuota } from './within-quota.ts';

const nameAttempts = 8;
/** The alphabet of generated names in Kubernetes: no vowels, no look-alikes. */
const nameAlphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** Serves POST to a collection. */
export async function createObject(request: ResourceRequest): Promise<Response> {
  const { definition } = request;
  if (definition.virtual) return respondVirtual(request);
  if (definition.scope === 'Namespaced' && request.namespace === '') {
    throw badRequest('an empty namespace may not be set during creation');
  }
  const dryRun = isDryRun(request.query, 'CreateOptions');
  checkManager(request.query, 'CreateOptions');
  const body = await readObject(request);
  if (body.metadata.resourceVersion) {
    throw badRequest('resourceVersion should not be set on objects to be created');
  }
  const managedFieldsOf = trackManagedFields(request, undefined, body.metadata.managedFields);
  const prefix = body.metadata.name === '' ? (body.metadata.generateName ?? '') : '';
  for (let attempt = 1; ; attempt++) {
    const name = prefix === '' ? body.metadata.name : generateName(prefix);
    const object = withServerFields(request, body, name);
    const created = await admitAndStore(request, object, dryRun, managedFieldsOf);
    if (created) {
      request.created = object.metadata;
      return respondWritten(request, created, 201);
    }
    if (prefix === '' || attempt === nameAttempts) throw await nameConflict(request, name);
  }
}

/** Returns the object with the server-owned fields set, regardless of their values in the body. */
export function withServerFields(request: ResourceRequest, body: KubeObject, name: string): KubeObject {
  const { deletionTimestamp, deletionGracePeriodSeconds, resourceVersion, managedFields, ...kept } =
    body.metadata;
  const metadata = {
    ...kept,
    name,
    uid: randomUUID(),
    creationTimestamp: isoSeconds(request.server.now()),
    generation: 1,
  };
  const { status: _status, ...rest } = body;
  return request.definition.status ? ({ ...rest, metadata } as KubeObject) : { ...body, metadata };
}

async function nameConflict(request: ResourceRequest, name: string) {
  const { item } = await request.server.store.get(objectKey(request.definition, request.namespace, name));
  const isDeleting = item !== undefined && decodeObject(item).metadata.deletionTimestamp !== undefined;
  return alreadyExists(request.definition, name, isDeleting);
}

function generateName(prefix: string): string {
  const random = Array.from({ length: 5 }, () => nameAlphabet[randomInt(nameAlphabet.length)]).join('');
  return prefix.slice(0, generatedPrefix) + random;
}

/** Admits and stores a new object. Returns undefined if the name is taken. */
export async function admitAndStore(
  request: ResourceRequest,
  given: KubeObject,
  dryRun: boolean,
  managedFieldsOf: ManagedFieldsOf,
): Promise<Written | undefined> {
  const { definition, server } = request;
  const object = await admitWrite(request, given, undefined, (next) =>
    withManagedFields(next, managedFieldsOf(next)),
  );
  await yieldIfLarge(request);
  const key = objectKey(definition, request.namespace, object.metadata.name);
  const value = encodeObject(definition, object);
  checkSize(definition, { object, value });
  const put = async () => {
    if (!dryRun) return server.store.create(key, value);
    const { item } = await server.store.get(key);
    return item ? ({ ok: false, current: item } as const) : undefined;
  };
  try {
    const written = await createWithinQuota(request, object.metadata.name, value, { run: put, dryRun });
    if (written === undefined) return { object };
    return written.ok ? { item: { key, value, revision: written.revision } } : undefined;
  } catch (caught) {
    // Creating an existing object fails with AlreadyExists, not with an exceeded quota.
    if (ArcError.is(caught, 'Forbidden') && (await server.store.get(key)).item) return undefined;
    throw caught;
  }
}

/** Serves a create of a virtual kind (access reviews), which stores nothing. */
async function respondVirtual(request: ResourceRequest): Promise<Response> {
  const { definition, user } = request;
  const body = await readObject(request);
  const { object, causes } = validateSchema(definition, body);
  if (causes.length > 0) throw invalid(definition, body.metadata.name, causes);
  const result = await definition.virtual?.(object, user);
  return respondObject(request, result ?? object, 201);
}
