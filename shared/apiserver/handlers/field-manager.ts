import { isoSeconds } from '#shared/meta';
import type { ManagedFieldsEntry } from '../fieldmanager/managed-fields.ts';
import { trackUpdate, type Writer } from '../fieldmanager/track-update.ts';
import type { KubeObject } from '../kinds/definition.ts';
import { apiVersionOf } from '../registry/stored-object.ts';
import type { Call } from '../request/call.ts';

/** Bytes a manager's name may have. */
const longestManager = 128;

/** Who makes the changes of a request: its fieldManager, else the User-Agent up to the first '/'. */
export function writerOf(call: Call): Writer {
  const { definition, query, request, server, target } = call;
  const manager = query.get('fieldManager') || managerOfAgent(request.headers.get('user-agent') ?? '');
  const time = isoSeconds(server.now());
  return { definition, apiVersion: apiVersionOf(definition), manager, subresource: target.subresource, time };
}

/** What is not printable is left out, what is too long cut. */
export function managerOfAgent(agent: string): string {
  const [product = ''] = agent.split('/');
  let manager = '';
  let size = 0;
  for (const letter of product.replace(/\p{C}/gu, '')) {
    size += Buffer.byteLength(letter);
    if (size > longestManager) break;
    manager += letter;
  }
  return manager;
}

/** The object with these owners of its fields. */
export function withOwners(object: KubeObject, managedFields: ManagedFieldsEntry[] | undefined): KubeObject {
  const { managedFields: _former, ...metadata } = object.metadata;
  return { ...object, metadata: managedFields ? { ...metadata, managedFields } : metadata };
}

/** Says who owns what in the object that a write has come to, defaults included. */
export type Owners = (next: KubeObject) => ManagedFieldsEntry[] | undefined;

/** As `trackUpdate`, for the writer of this request. */
export function updateOwners(call: Call, old: KubeObject | undefined, supplied: unknown): Owners {
  return (next) => trackUpdate(writerOf(call), old, next, supplied);
}
