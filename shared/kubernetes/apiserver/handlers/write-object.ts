import { isDeepStrictEqual } from 'node:util';
import { ArcError } from '#shared/base/errors';
import { sameJson } from '#shared/base/meta';
import type { StoredItem } from '#shared/kubernetes/storage';
import { notFound } from '../errors/api-errors.ts';
import { sameOwners } from '../fieldmanager/managed-fields.ts';
import type { KubeObject, ObjectMeta } from '../kinds/definition.ts';
import { objectKey } from '../registry/keys.ts';
import { decodeObject, encodeObject } from '../registry/stored-object.ts';
import { deadline, type ResourceRequest, yieldIfLarge } from '../request/api-request.ts';
import type { Written } from '../response/respond.ts';
import { checkSize } from '../validation/object-size.ts';
import { admitWrite } from './admit-write.ts';
import { type ManagedFieldsOf, withManagedFields } from './field-manager.ts';
import { updateWithinQuota } from './within-quota.ts';

/** Attempts before a write gives up on conflicts: another client rewrites the object continuously. */
export const writeAttempts = 64;

/** The object that a request wants to store, before admission. */
export interface Change {
  object: KubeObject;
  managedFieldsOf: ManagedFieldsOf;
}

export interface WriteOptions {
  dryRun: boolean;
  change: (old: KubeObject) => Change | Promise<Change>;
  /** Creates a missing object; returns undefined if another client has created it. Default: NotFound. */
  createIfAbsent?: () => Promise<Written | undefined>;
}

/**
 * Reads, changes and writes an object, and retries conflicts. Skips the write of an unchanged object. Like kube-apiserver, starts from the
 * cached object: a stale object makes the write conflict, and every outcome without a write is verified against the store.
 */
export async function writeObject(request: ResourceRequest, options: WriteOptions): Promise<Written> {
  const { definition, server, info } = request;
  const signal = deadline(request);
  const key = objectKey(definition, request.namespace, info.name);
  const { item: cached } = await server.store.get(key, { signal, atLeast: 0 });
  if (!cached) return writeNewest(request, options, (await server.store.get(key, { signal })).item);

  const warned = request.warnings.length;
  const next: Outcome = await nextState(request, cached, options).catch((failure: unknown) => ({ failure }));
  let newest: StoredItem | undefined;
  if ('failure' in next || next.same || options.dryRun) {
    newest = (await server.store.get(key, { signal })).item;
    if (newest?.revision === cached.revision) return resultOf(next);
  } else {
    const written = await commitCached(request, cached, next);
    if (written.done) return { item: written.item };
    newest = written.current;
  }
  request.warnings.length = warned;
  return writeNewest(request, options, newest);
}

async function writeNewest(
  request: ResourceRequest,
  options: WriteOptions,
  newest: StoredItem | undefined,
): Promise<Written> {
  const { definition, server, info } = request;
  const warned = request.warnings.length;
  let item = newest;
  for (let attempt = 0; attempt < writeAttempts; attempt++) {
    request.warnings.length = warned;
    if (!item) {
      if (!options.createIfAbsent) throw notFound(definition, info.name);
      const created = await options.createIfAbsent();
      if (created) return created;
      ({ item } = await server.store.get(objectKey(definition, request.namespace, info.name)));
      continue;
    }
    const next = await nextState(request, item, options);
    if (options.dryRun || next.same) return resultOf(next);
    const written = await commit(request, item, next);
    if (written.done) return { item: written.item };
    item = written.current;
  }
  throw contended(info.name);
}

export function contended(name: string): ArcError {
  return new ArcError('ServiceUnavailable', `"${name}" changed during every attempt to write it; try again`, {
    details: { retryAfterSeconds: 1 },
  });
}

type Outcome = NextState | { failure: unknown };

function resultOf(outcome: Outcome): Written {
  if ('failure' in outcome) throw outcome.failure;
  return { item: outcome.item };
}

interface NextState {
  metadata: ObjectMeta;
  /** The item to store, still at the old revision. */
  item: StoredItem;
  /** Nothing changes except possibly timestamps in managedFields; `item` is the old item. */
  same: boolean;
}

async function nextState(
  request: ResourceRequest,
  item: StoredItem,
  { change, dryRun }: WriteOptions,
): Promise<NextState> {
  const { definition } = request;
  request.objectBytes = item.value.byteLength;
  const old = decodeObject(item);
  await yieldIfLarge(request);
  const { object: wanted, managedFieldsOf } = await change(old);
  await yieldIfLarge(request);
  const admitted = await admitWrite(request, merged(request, wanted, old), old, (next) =>
    withManagedFields(next, managedFieldsOf(submitted(request, wanted, next))),
  );
  await yieldIfLarge(request);
  const metadata = withGeneration(request, admitted, old);
  const next = { ...item, value: encodeObject(definition, { ...admitted, metadata }) };
  const same =
    metadata.generation === old.metadata.generation &&
    (Buffer.compare(next.value, item.value) === 0 || isSame({ ...admitted, metadata }, old));
  if (same) return { metadata, item, same };
  await yieldIfLarge(request);
  checkSize(
    definition,
    { object: { ...admitted, metadata }, value: next.value },
    { object: old, value: item.value },
  );
  if (dryRun) await updateWithinQuota(request, item, next, { run: async () => undefined, dryRun });
  return { metadata, item: next, same };
}

/** Compares status first, which writes change most often. A field that is undefined is not stored and counts as absent. */
function isSame(object: KubeObject, old: KubeObject): boolean {
  const { metadata, status, ...rest } = object;
  const { metadata: oldMetadata, status: oldStatus, ...oldRest } = old;
  if (!sameJson(status, oldStatus) || !sameJson(rest, oldRest)) return false;
  const { managedFields, resourceVersion: _revision, ...others } = metadata;
  const { managedFields: former, resourceVersion: _oldRevision, ...oldOthers } = oldMetadata;
  return sameJson(others, oldOthers) && sameOwners(managedFields, former);
}

type Commit = { done: true; item: StoredItem } | { done: false; current: StoredItem | undefined };

/** Like `commit`, but treats an exceeded quota as a conflict if `cached` is stale: the growth was computed from the stale size. */
async function commitCached(request: ResourceRequest, cached: StoredItem, next: NextState): Promise<Commit> {
  try {
    return await commit(request, cached, next);
  } catch (caught) {
    if (!ArcError.is(caught, 'Forbidden')) throw caught;
    const { item: current } = await request.server.store.get(cached.key);
    if (current?.revision === cached.revision) throw caught;
    return { done: false, current };
  }
}

/** Stores the object, or removes it if the update removes the last finalizer of a deleted object. */
async function commit(request: ResourceRequest, item: StoredItem, next: NextState): Promise<Commit> {
  const { server } = request;
  const { deletionTimestamp, finalizers } = next.metadata;
  const released = deletionTimestamp !== undefined && (finalizers ?? []).length === 0;
  const result = released
    ? await server.store.delete(item.key, item.revision)
    : await updateWithinQuota(request, item, next.item, {
        run: () => server.store.update(item.key, next.item.value, item.revision),
        dryRun: false,
      });
  if (!result.ok) return { done: false, current: result.current };
  return { done: true, item: { ...next.item, revision: released ? item.revision : result.revision } };
}

/** Returns `old` with the fields of `given` that this endpoint may write, without managedFields. */
function merged(request: ResourceRequest, given: KubeObject, old: KubeObject): KubeObject {
  const { definition, info } = request;
  if (info.subresource === 'status') {
    const { status: _old, ...rest } = withManagedFields(old, undefined);
    return (given.status === undefined ? rest : { ...rest, status: given.status }) as KubeObject;
  }
  const metadata = { ...given.metadata };
  for (const field of serverFields) inherit(metadata, old.metadata, field);
  metadata.name = old.metadata.name;
  const { generation: _generation, resourceVersion: _revision, managedFields: _owners, ...kept } = metadata;
  const { generation, resourceVersion } = old.metadata;
  const object = {
    ...given,
    metadata: {
      ...kept,
      ...(generation !== undefined && { generation }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
  } as KubeObject;
  if (!definition.status) return object;
  const { status: _status, ...rest } = object;
  return (old.status === undefined ? rest : { ...rest, status: old.status }) as KubeObject;
}

/**
 * Returns the object from which managedFields are computed. For /status this includes the submitted metadata, although it is not stored, as
 * in kube-apiserver for custom resources: a manager that sends back a whole object does not lose its fields.
 */
function submitted(request: ResourceRequest, wanted: KubeObject, next: KubeObject): KubeObject {
  if (request.info.subresource !== 'status') return next;
  const metadata = { ...wanted.metadata };
  for (const field of serverFields) inherit(metadata, next.metadata, field);
  return { ...next, metadata };
}

const serverFields = [
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generateName',
];

/** Keeps the value of a server-owned field that the client omits. */
function inherit(metadata: ObjectMeta, old: ObjectMeta, field: string): void {
  if (metadata[field] === undefined && old[field] !== undefined) metadata[field] = old[field];
}

/** Increments generation on changes outside metadata and, with a status subresource, outside status. */
function withGeneration(request: ResourceRequest, object: KubeObject, old: KubeObject): ObjectMeta {
  const generation = old.metadata.generation ?? 1;
  const same = isDeepStrictEqual(contentOf(request, object), contentOf(request, old));
  return { ...object.metadata, generation: same ? generation : generation + 1 };
}

function contentOf(request: ResourceRequest, object: KubeObject): object {
  const { metadata: _metadata, ...content } = object;
  if (!request.definition.status) return content;
  const { status: _status, ...spec } = content;
  return spec;
}
