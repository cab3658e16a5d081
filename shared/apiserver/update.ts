import { isDeepStrictEqual } from 'node:util';
import type { StoredItem } from '#shared/storage';
import { type Call, deadline } from './call.ts';
import type { KubeObject, ObjectMeta } from './definition.ts';
import { judge } from './judge.ts';
import { acceptObject, readObject } from './object-input.ts';
import { applyPatch, readPatch } from './patch.ts';
import { decodeObject, encodeObject, objectKey } from './registry.ts';
import { respondObject } from './respond.ts';
import { invalid, modified, notFound, preconditionFailed } from './status.ts';
import { checkManager, contended, isDryRun, writeAttempts } from './write-options.ts';

/** PUT of an object or of its status. */
export async function replaceObject(call: Call): Promise<Response> {
  const { definition, target } = call;
  const dryRun = isDryRun(call.query, 'UpdateOptions');
  checkManager(call.query, 'UpdateOptions');
  const body = await readObject(call);
  const { resourceVersion = '', uid } = body.metadata;
  const wanted = await write(call, dryRun, (old) => {
    if (resourceVersion !== '' && resourceVersion !== old.metadata.resourceVersion)
      throw modified(definition, target.name);
    if (uid && uid !== old.metadata.uid) {
      throw preconditionFailed(definition, target.name, 'UID', uid, old.metadata.uid ?? '');
    }
    if (resourceVersion === '' && definition.group !== '') throw revisionRequired(call);
    return body;
  });
  return respondObject(call, wanted);
}

/** Custom resources insist on a resourceVersion, the core kinds do not. */
function revisionRequired(call: Call) {
  const message = 'Invalid value: 0: must be specified for an update';
  const field = 'metadata.resourceVersion';
  return invalid(call.definition, call.target.name, [{ reason: 'FieldValueInvalid', message, field }]);
}

/** PATCH of an object or of its status. A resourceVersion in the result is a precondition; without one, races are retried. */
export async function patchObject(call: Call): Promise<Response> {
  const { definition, target } = call;
  const patch = await readPatch(call.request, definition);
  const dryRun = isDryRun(call.query, 'PatchOptions');
  checkManager(call.query, 'PatchOptions');
  const warned = call.warnings.length;
  const written = await write(call, dryRun, (old) => {
    call.warnings.length = warned;
    const value = applyPatch(patch, old, definition);
    const object = acceptObject(call, { value, duplicates: patch.duplicates });
    const wanted = object.metadata.resourceVersion ?? '';
    if (wanted !== '' && wanted !== old.metadata.resourceVersion) throw modified(definition, target.name);
    return object;
  });
  return respondObject(call, written);
}

/** Reads, changes and writes until nobody has come in between; a change that changes nothing is not written. */
async function write(
  call: Call,
  dryRun: boolean,
  change: (old: KubeObject) => KubeObject,
): Promise<KubeObject> {
  const { definition, server, target } = call;
  const signal = deadline(call);
  const key = objectKey(definition, call.namespace, target.name);
  let { item } = await server.store.get(key, { signal });
  for (let attempt = 0; attempt < writeAttempts; attempt++) {
    if (!item) throw notFound(definition, target.name);
    const old = decodeObject(item);
    const next = await judge(call, merged(call, change(old), old), old);
    const object = asStored(call, { ...next, metadata: withGeneration(call, next, old) });
    if (dryRun || isDeepStrictEqual(object, old)) return object;
    const written = await commit(call, item, object);
    if (written.done) return written.object;
    item = written.current;
  }
  throw contended(target.name);
}

type Commit = { done: true; object: KubeObject } | { done: false; current: StoredItem | undefined };

/** An object that was waiting for its last finalizer goes with the update that removes it. */
async function commit(call: Call, item: StoredItem, object: KubeObject): Promise<Commit> {
  const { definition, server } = call;
  const { deletionTimestamp, finalizers } = object.metadata;
  const released = deletionTimestamp !== undefined && (finalizers ?? []).length === 0;
  const result = released
    ? await server.store.delete(item.key, item.revision)
    : await server.store.update(item.key, encodeObject(definition, object), item.revision);
  if (!result.ok) return { done: false, current: result.current };
  const resourceVersion = String(released ? item.revision : result.revision);
  return { done: true, object: { ...object, metadata: { ...object.metadata, resourceVersion } } };
}

/** The part of `given` that this endpoint may write, the rest from `old`. */
function merged(call: Call, given: KubeObject, old: KubeObject): KubeObject {
  const { definition, target } = call;
  if (target.subresource === 'status') {
    const { status: _old, ...rest } = old;
    return (given.status === undefined ? rest : { ...rest, status: given.status }) as KubeObject;
  }
  const metadata = { ...given.metadata };
  for (const field of serverFields) inherit(metadata, old.metadata, field);
  metadata.name = old.metadata.name;
  const { generation: _generation, resourceVersion: _revision, ...kept } = metadata;
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

const serverFields = [
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generateName',
];

/** A writer that leaves a field of the server out means no change. */
function inherit(metadata: ObjectMeta, old: ObjectMeta, field: string): void {
  if (metadata[field] === undefined && old[field] !== undefined) metadata[field] = old[field];
}

/** What a later read would give: fields that hold undefined are gone, so that they make no difference. */
function asStored(call: Call, object: KubeObject): KubeObject {
  const key = object.metadata.name;
  const revision = Number(object.metadata.resourceVersion);
  return decodeObject({ key, value: encodeObject(call.definition, object), revision });
}

/** generation counts changes outside metadata and, where status is its own endpoint, outside status. */
function withGeneration(call: Call, object: KubeObject, old: KubeObject): ObjectMeta {
  const generation = old.metadata.generation ?? 1;
  const same = isDeepStrictEqual(contentOf(call, object), contentOf(call, old));
  return { ...object.metadata, generation: same ? generation : generation + 1 };
}

function contentOf(call: Call, object: KubeObject): object {
  const { metadata: _metadata, ...content } = object;
  if (!call.definition.status) return content;
  const { status: _status, ...spec } = content;
  return spec;
}
