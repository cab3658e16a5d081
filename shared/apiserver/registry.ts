import { ArcError } from '#shared/errors';
import type { StoredItem } from '#shared/storage';
import type { KindDefinition, KubeObject } from './definition.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** `arc.opendefense.cloud/v1alpha1`, or `v1` in the core group. */
export function apiVersionOf(definition: KindDefinition): string {
  return definition.group === '' ? definition.version : `${definition.group}/${definition.version}`;
}

/** Where a group's objects live. */
export function storagePrefix(group: string): string {
  return `/registry/${group || 'core'}/`;
}

/** Where a kind's objects live: all of them, or those of one namespace. Ends with '/'. */
export function keyPrefix(definition: KindDefinition, namespace = ''): string {
  const root = `${storagePrefix(definition.group)}${definition.plural}/`;
  return namespace === '' || definition.scope === 'Cluster' ? root : `${root}${namespace}/`;
}

export function objectKey(definition: KindDefinition, namespace: string, name: string): string {
  return `${keyPrefix(definition, namespace)}${name}`;
}

const heads = new WeakMap<KindDefinition, Uint8Array>();

/** The bytes every stored value of a kind begins with; the resourceVersion goes right behind them. */
function headOf(definition: KindDefinition): Uint8Array {
  let head = heads.get(definition);
  if (!head) {
    const identity = JSON.stringify({ apiVersion: apiVersionOf(definition), kind: definition.kind });
    head = encoder.encode(`${identity.slice(0, -1)},"metadata":{`);
    heads.set(definition, head);
  }
  return head;
}

/** The stored form: JSON without resourceVersion, apiVersion, kind and metadata first and in this order. */
export function encodeObject(definition: KindDefinition, object: KubeObject): Uint8Array {
  const { apiVersion: _version, kind: _kind, metadata, ...rest } = object;
  const { resourceVersion: _revision, name, ...others } = metadata;
  const ordered = {
    apiVersion: apiVersionOf(definition),
    kind: definition.kind,
    metadata: { name, ...others },
    ...rest,
  };
  return encoder.encode(JSON.stringify(ordered));
}

/** The object's JSON with its resourceVersion, made without parsing it. */
export function withRevision(definition: KindDefinition, item: StoredItem, revision = item.revision): Buffer {
  const head = headOf(definition);
  const value = Buffer.from(item.value.buffer, item.value.byteOffset, item.value.byteLength);
  if (!value.subarray(0, head.length).equals(head)) throw corrupt(item.key);
  const spliced = Buffer.from(`"resourceVersion":"${revision}",`, 'latin1');
  return Buffer.concat([head, spliced, value.subarray(head.length)]);
}

/** The stored object with its resourceVersion; a value that is no object fails this read with InternalError. */
export function decodeObject(item: StoredItem, revision = item.revision): KubeObject {
  let parsed: KubeObject;
  try {
    parsed = JSON.parse(decoder.decode(item.value)) as KubeObject;
  } catch (caught) {
    throw corrupt(item.key, caught);
  }
  if (typeof parsed?.metadata?.name !== 'string') throw corrupt(item.key);
  parsed.metadata.resourceVersion = String(revision);
  return parsed;
}

function corrupt(key: string, cause?: unknown): ArcError {
  return new ArcError('InternalError', `the stored value of ${key} is damaged`, { cause });
}
