import { isDeepStrictEqual } from 'node:util';
import { yieldToEventLoop } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { isoSeconds } from '#shared/base/meta';
import type { StoredItem } from '#shared/kubernetes/storage';
import { deletePreconditionFailed, notFound } from '../errors/api-errors.ts';
import type { KubeObject } from '../kinds/definition.ts';
import { objectKey } from '../registry/keys.ts';
import { decodeObject, encodeObject, itemSlices } from '../registry/stored-object.ts';
import type { ResourceRequest } from '../request/api-request.ts';
import { deadline } from '../request/api-request.ts';
import { respondList } from '../response/list-response.ts';
import { respondBody, respondObject } from '../response/respond.ts';
import { admissionRequest } from './admit-write.ts';
import { type DeleteOptions, readDeleteOptions } from './delete-options.ts';
import { findObjects } from './read.ts';
import { contended, writeAttempts } from './write-object.ts';

/** The result of a delete: the object is removed, or marked for deletion until its finalizers are removed. */
type Deletion = { removed: boolean; object: KubeObject };

/** Serves DELETE of one object: responds with a Status if it is removed, with the object while it has finalizers. */
export async function deleteObject(request: ResourceRequest): Promise<Response> {
  const { definition, server, info } = request;
  const options = await readDeleteOptions(request);
  const key = objectKey(definition, request.namespace, info.name);
  const { item } = await server.store.get(key, { signal: deadline(request) });
  const deletion = await remove(request, item, info.name, options);
  if (!deletion.removed) return respondObject(request, deletion.object);
  const { group, plural } = definition;
  const { name, uid } = deletion.object.metadata;
  const details = { name, ...(group && { group }), kind: plural, ...(uid && { uid }) };
  return respondBody(request, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details });
}

/** Concurrent deletions of a deletecollection. */
const maxConcurrentDeletes = 100;

/** Serves DELETE of a collection: deletes every object that a list with the same query returns, and responds with these objects. */
export async function deleteCollection(request: ResourceRequest): Promise<Response> {
  const options = await readDeleteOptions(request);
  const { items, metadata } = await findObjects(request);
  const signal = deadline(request);
  const deleted: StoredItem[] = [];
  for (const slice of itemSlices(items, maxConcurrentDeletes)) {
    if (signal.aborted) throw unfinished(deleted.length, items.length);
    const results = await Promise.all(slice.map((item) => removeIfPresent(request, item, options)));
    for (const item of results) if (item) deleted.push(item);
    await yieldToEventLoop();
  }
  return respondList(request, deleted, metadata);
}

function unfinished(deleted: number, found: number): ArcError {
  return new ArcError(
    'Timeout',
    `${deleted} of ${found} objects were deleted before the request timed out: repeat the request to delete the rest`,
  );
}

/** Returns the object as it was before; undefined if another client has deleted it, which kube-apiserver ignores too. */
async function removeIfPresent(
  request: ResourceRequest,
  item: StoredItem,
  options: DeleteOptions,
): Promise<StoredItem | undefined> {
  const name = item.key.slice(item.key.lastIndexOf('/') + 1);
  const current = (await request.server.store.get(item.key)).item;
  if (!current) return undefined;
  try {
    await remove(request, current, name, options);
  } catch (caught) {
    if (ArcError.is(caught, 'NotFound')) return undefined;
    throw caught;
  }
  return current;
}

async function remove(
  request: ResourceRequest,
  found: StoredItem | undefined,
  name: string,
  options: DeleteOptions,
): Promise<Deletion> {
  const { definition, server } = request;
  let item = found;
  for (let attempt = 0; attempt < writeAttempts; attempt++) {
    if (!item) throw notFound(definition, name);
    const old = decodeObject(item);
    checkPreconditions(request, old, options);
    const { dryRun, policy, preconditions } = options;
    const admission = admissionRequest(request, {
      operation: 'DELETE',
      object: undefined,
      oldObject: old,
      dryRun,
      options: { preconditions, ...(policy && { propagationPolicy: policy }) },
    });
    await server.admission.mutate(admission);
    await server.admission.validate(admission);
    const object = markedForDeletion(request, old, options);
    const removed = (object.metadata.finalizers ?? []).length === 0;
    if (removed && options.dryRun) return { removed, object: old };
    if (!removed && (options.dryRun || isDeepStrictEqual(object, old))) return { removed, object };
    const result = removed
      ? await server.store.delete(item.key, item.revision)
      : await server.store.update(item.key, encodeObject(definition, object), item.revision);
    if (result.ok && removed) return { removed, object: old };
    if (result.ok) {
      const metadata = { ...object.metadata, resourceVersion: String(result.revision) };
      return { removed, object: { ...object, metadata } };
    }
    item = result.current;
  }
  throw contended(name);
}

function checkPreconditions(request: ResourceRequest, object: KubeObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = options.preconditions;
  const { name, uid: foundUid = '', resourceVersion: foundRevision = '' } = object.metadata;
  if (uid !== undefined && uid !== foundUid)
    throw deletePreconditionFailed(request.definition, name, 'UID', uid, foundUid);
  if (resourceVersion !== undefined && resourceVersion !== foundRevision) {
    throw deletePreconditionFailed(
      request.definition,
      name,
      'ResourceVersion',
      resourceVersion,
      foundRevision,
    );
  }
}

/** Returns the object marked for deletion, with the garbage collector's finalizers according to the propagation policy. */
function markedForDeletion(request: ResourceRequest, old: KubeObject, options: DeleteOptions): KubeObject {
  const { metadata } = old;
  const own = (metadata.finalizers ?? []).filter(
    (name) => name !== 'foregroundDeletion' && name !== 'orphan',
  );
  const { policy } = options;
  const finalizers = policy === undefined ? (metadata.finalizers ?? []) : [...own];
  if (policy === 'Foreground') finalizers.push('foregroundDeletion');
  if (policy === 'Orphan') finalizers.push('orphan');
  const { finalizers: _old, ...rest } = metadata;
  const nextMetadata = finalizers.length > 0 ? { ...rest, finalizers } : rest;
  if (metadata.deletionTimestamp !== undefined) return { ...old, metadata: nextMetadata };
  const deletion = {
    deletionTimestamp: isoSeconds(request.server.now()),
    deletionGracePeriodSeconds: 0,
    generation: (metadata.generation ?? 1) + 1,
  };
  const object = { ...old, metadata: { ...nextMetadata, ...deletion } };
  // Without finalizers the object is removed immediately, so the hook has no effect.
  return finalizers.length > 0 ? (request.definition.hooks?.beginDeletion?.(object) ?? object) : object;
}
