import { isoSeconds } from '#shared/meta';
import type { ManagedFieldsEntry } from '../fieldmanager/managed-fields.ts';
import { trackUpdate, type Writer } from '../fieldmanager/track-update.ts';
import type { KubeObject } from '../kinds/definition.ts';
import { apiVersionOf } from '../kinds/verbs.ts';
import type { ResourceRequest } from '../request/api-request.ts';

/** Bytes a manager's name may have. */
const maxManagerBytes = 128;

/** Who makes the changes of a request: its fieldManager, else the User-Agent up to the first '/'. */
export function fieldManagerOf(request: ResourceRequest): Writer {
  const { definition, query, raw, server, info } = request;
  const manager = query.get('fieldManager') || managerFromUserAgent(raw.headers.get('user-agent') ?? '');
  const time = isoSeconds(server.now());
  return { definition, apiVersion: apiVersionOf(definition), manager, subresource: info.subresource, time };
}

/** What is not printable is left out, what is too long cut. */
export function managerFromUserAgent(agent: string): string {
  const [product = ''] = agent.split('/');
  let manager = '';
  let size = 0;
  for (const letter of product.replace(/\p{C}/gu, '')) {
    size += Buffer.byteLength(letter);
    if (size > maxManagerBytes) break;
    manager += letter;
  }
  return manager;
}

/** The object with these owners of its fields. */
export function withManagedFields(
  object: KubeObject,
  managedFields: ManagedFieldsEntry[] | undefined,
): KubeObject {
  const { managedFields: _former, ...metadata } = object.metadata;
  return { ...object, metadata: managedFields ? { ...metadata, managedFields } : metadata };
}

/** Says who owns what in the object that a write has come to, defaults included. */
export type Owners = (next: KubeObject) => ManagedFieldsEntry[] | undefined;

/** As `trackUpdate`, for the writer of this request. */
export function trackManagedFields(
  request: ResourceRequest,
  old: KubeObject | undefined,
  supplied: unknown,
): Owners {
  return (next) => trackUpdate(fieldManagerOf(request), old, next, supplied);
}
