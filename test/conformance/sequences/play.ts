import { isDeepStrictEqual } from 'node:util';
import type { Client, RawRequest } from '../client.ts';
import { compare, type Difference } from '../compare.ts';
import { type Normal, normalise } from '../normalise.ts';
import type { Pair } from '../pair.ts';
import type { Operation } from './operations.ts';

type Json = Record<string, unknown>;

/** The object as one server has shown it last. */
interface Seen {
  client: Client;
  name: string;
  object: Json | undefined;
}

/** The namespace all objects are in. */
export const namespace = 'gadgets';

/** Sends a sequence to both servers; what the first answer that differs differs in, and undefined if none does. */
export async function firstDifference(
  pair: Pair,
  name: string,
  operations: readonly Operation[],
): Promise<{ operation: Operation; differences: Difference[] } | undefined> {
  const seen: Seen[] = [pair.ours, pair.reference].map((client) => ({ client, name, object: undefined }));
  for (const operation of operations) {
    const [ours, reference] = await Promise.all(seen.map((one) => play(one, operation)));
    if (!ours || !reference || isEmptiedToNull(reference) || isLeaving(reference)) return undefined;
    const differences = isDeepStrictEqual(ours, reference) ? [] : compare(ours, reference);
    if (differences.length > 0 && !isRewrite(differences)) return { operation, differences };
  }
  return undefined;
}

/**
 * Applying an empty map or list where its items were owned makes null of it in structured-merge-diff, which the schema of a
 * custom resource then refuses. A typed kind, and ours, takes null for absence. The sequence ends there.
 */
function isEmptiedToNull({ code, body }: Normal): boolean {
  const [status] = body as { details?: { causes?: { message: string }[] } }[];
  const causes = status?.details?.causes ?? [];
  return code === 422 && causes.length > 0 && causes.every(({ message }) => message.endsWith(': "null"'));
}

/**
 * The reference stores empty maps and lists of the metadata, does not read them again, and so takes the next write, which
 * changes nothing, for a change. Ours stores none: the write that changes nothing keeps the revision.
 */
function isRewrite(differences: readonly Difference[]): boolean {
  const [only, ...more] = differences;
  return more.length === 0 && only?.path === 'body.0.metadata.resourceVersion' && only.ours === '<rv>';
}

/** What is being deleted is not judged any more by ours, so that a rule cannot hold up a deletion. */
function isLeaving({ body }: Normal): boolean {
  const [object] = body as { metadata?: { deletionTimestamp?: string } }[];
  return object?.metadata?.deletionTimestamp !== undefined;
}

async function play(seen: Seen, operation: Operation): Promise<Normal> {
  const { client } = seen;
  const { group } = client.server;
  const response = await client.send(requestOf(seen, operation));
  const rv = revisionOf(seen.object);
  const variables = { ns: namespace, group, ...(rv !== undefined && { rv }) };
  const normal = judgedAlike(normalise({ ...response, variables, ofLists: new Set() }));
  if (response.code < 300 && !operation.dryRun) seen.object = objectOf(response.text);
  return normal;
}

/** The reference answers 500 to a configuration that the schema does not allow, ours 400: see explained.json. */
function judgedAlike(normal: Normal): Normal {
  const [status] = normal.body as { message?: string }[];
  const { message = '' } = status ?? {};
  if (!message.startsWith('failed to create typed patch object')) return normal;
  return { ...normal, code: 400, body: [message] };
}

function objectOf(text: string): Json | undefined {
  const object = JSON.parse(text) as Json;
  return object.kind === 'Status' ? undefined : object;
}

function revisionOf(object: Json | undefined): string | undefined {
  return (object?.metadata as { resourceVersion?: string } | undefined)?.resourceVersion;
}

const patchTypes: Readonly<Record<string, string>> = {
  apply: 'application/apply-patch+yaml',
  merge: 'application/merge-patch+json',
  forget: 'application/merge-patch+json',
  json: 'application/json-patch+json',
};

function requestOf(seen: Seen, operation: Operation): RawRequest {
  const { client, name } = seen;
  const { kind, manager, subresource, force, dryRun } = operation;
  const { group, tokens } = client.server;
  const collection = `/apis/${group}/v1alpha1/namespaces/${namespace}/gadgets`;
  const query = new URLSearchParams({ ...(kind !== 'delete' && { fieldManager: manager }) });
  if (kind === 'apply' && force) query.set('force', 'true');
  if (dryRun) query.set('dryRun', 'All');
  const below = subresource !== '' && kind !== 'delete' ? `/${subresource}` : '';
  const path = kind === 'create' ? collection : `${collection}/${name}${below}`;
  const method = { create: 'POST', update: 'PUT', delete: 'DELETE' }[kind as string] ?? 'PATCH';
  const headers = {
    authorization: `Bearer ${tokens.admin}`,
    accept: 'application/json',
    'content-type': patchTypes[kind] ?? 'application/json',
  };
  const body = kind === 'delete' ? undefined : JSON.stringify(bodyOf(seen, operation));
  return { method, path: `${path}?${query}`, headers, body };
}

function bodyOf({ client, name, object }: Seen, { kind, changes }: Operation): unknown {
  const identity = { apiVersion: `${client.server.group}/v1alpha1`, kind: 'Gadget' };
  switch (kind) {
    case 'merge':
      return changes;
    case 'forget':
      return { metadata: { managedFields: [{}] } };
    case 'json':
      return operationsOf(changes);
    case 'update': {
      // As a controller does it: the object as it was read, owners included, with the changes.
      const metadata = { ...(object?.metadata as Json | undefined), ...changes.metadata, name };
      return { ...identity, ...object, ...changes, metadata };
    }
    default:
      return { ...identity, ...changes, metadata: { ...changes.metadata, name } };
  }
}

/** Sets each field of the changes; takes out what is given as an empty list. */
function operationsOf(changes: object): object[] {
  return Object.entries(changes).flatMap(([top, fields]) =>
    Object.entries((fields ?? {}) as Json).map(([field, value]) => {
      const path = `/${top}/${field}`;
      const empty = Array.isArray(value) && value.length === 0;
      return empty ? { op: 'remove', path } : { op: 'add', path, value };
    }),
  );
}
