import { isDeepStrictEqual } from 'node:util';
import { ArcError } from '#shared/base/errors';
import { sameJson } from '#shared/base/meta';
import type { StoredItem } from '#shared/kubernetes/storage';
import { notFound } from '../errors/api-errors.ts';
import { sameOwners } from '../fieldmanager/managed-fields.ts';
import type { KubeObject, ObjectMeta } from '../kinds/definition.ts';
import { objectKey } from '../registry/keys.ts';
import { decodeObject, encodeObject } from '../registry/stored-object.ts';
import { betweenSteps, deadline, type ResourceRequest } from '../request/api-request.ts';
import type { Written } from '../response/respond.ts';
import { checkSize } from '../validation/object-size.ts';
import { admitWrite } from './admit-write.ts';
import { type ManagedFieldsOf, withManagedFields } from './field-manager.ts';
import { updateWithinQuota } from './within-quota.ts';

/** Conflicts after which a write gives up: another client rewrites the object continuously. */
export const writeAttempts = 64;

/** The change that a request makes to the object it finds. */
export interface Change {
  object: KubeObject;
  managedFieldsOf: ManagedFieldsOf;
}

export interface WriteOptions {
  dryRun: boolean;
  change: (old: KubeObject) => Change | Promise<Change>;
  /** Creates the object where there is none; undefined: it was created meanwhile. Without this function: NotFound. */
  absent?: () => Promise<Written | undefined>;
}

/**
 * Reads, changes and writes, again after each conflict. A change without effect is not written. As in kube-apiserver the first
 * attempt uses the cached object: if that is old the write conflicts, and any other outcome is checked against the store.
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
    if (newest?.revision === cached.revision) return settled(next);
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
      if (!options.absent) throw notFound(definition, info.name);
      const created = await options.absent();
      if (created) return created;
      ({ item } = await server.store.get(objectKey(definition, request.namespace, info.name)));
      continue;
    }
    const next = await nextState(request, item, options);
    if (options.dryRun || next.same) return settled(next);
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

function settled(outcome: Outcome): Written {
  if ('failure' in outcome) throw outcome.failure;
  return { item: outcome.item };
}

interface NextState {
  metadata: ObjectMeta;
  /** The item to store, still at the old revision. */
  item: StoredItem;
  /** At most times in managedFields would change: `item` is the old one. */
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
  await betweenSteps(request);
  const { object: wanted, managedFieldsOf } = await change(old);
  await betweenSteps(request);
  const admitted = await admitWrite(request, merged(request, wanted, old), old, (next) =>
    withManagedFields(next, managedFieldsOf(submitted(request, wanted, next))),
  );
  await betweenSteps(request);
  const metadata = withGeneration(request, admitted, old);
  const next = { ...item, value: encodeObject(definition, { ...admitted, metadata }) };
  const same =
    metadata.generation === old.metadata.generation &&
    (Buffer.compare(next.value, item.value) === 0 || isSame({ ...admitted, metadata }, old));
  if (same) return { metadata, item, same };
  await betweenSteps(request);
  checkSize(
    definition,
    { object: { ...admitted, metadata }, value: next.value },
    { object: old, value: item.value },
  );
  if (dryRun) await updateWithinQuota(request, item, next, { run: async () => undefined, dryRun });
  return { metadata, item: next, same };
}

/** What a write changes is compared first. A field that holds undefined is not stored, so it counts as absent. */
function isSame(object: KubeObject, old: KubeObject): boolean {
  const { metadata, status, ...rest } = object;
  const { metadata: oldMetadata, status: oldStatus, ...oldRest } = old;
  if (!sameJson(status, oldStatus) || !sameJson(rest, oldRest)) return false;
  const { managedFields, resourceVersion: _revision, ...others } = metadata;
  const { managedFields: former, resourceVersion: _oldRevision, ...oldOthers } = oldMetadata;
  return sameJson(others, oldOthers) && sameOwners(managedFields, former);
}

type Commit = { done: true; item: StoredItem } | { done: false; current: StoredItem | undefined };

/** As `commit`. What a quota refuses of an old state is a conflict: the newest may be as large as the object that is written. */
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

/** Stores the object, or removes it with the update that takes away its last finalizer. */
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

/** The part of `given` that this endpoint may write, the rest from `old`; without managedFields. */
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
 * The object from which managedFields are computed. On /status it has the metadata that was sent, though none of it is stored:
 * kube-apiserver does so for custom resources, and a manager that sends back a whole object changes nothing by it.
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

/** A server-owned field that the client omits keeps its value. */
function inherit(metadata: ObjectMeta, old: ObjectMeta, field: string): void {
  if (metadata[field] === undefined && old[field] !== undefined) metadata[field] = old[field];
}

/** generation counts changes outside metadata and, with a status subresource, outside status. */
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
