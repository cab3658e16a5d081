import { isoSeconds } from '#shared/base/meta';
import type { ManagedFieldsEntry } from '../fieldmanager/managed-fields.ts';
import { trackUpdate, type Writer } from '../fieldmanager/track-update.ts';
import type { KubeObject } from '../kinds/definition.ts';
import { apiVersionOf } from '../kinds/served-kinds.ts';
import type { ResourceRequest } from '../request/api-request.ts';

/** Length limit of a manager name. */
const maxManagerBytes = 128;

/** Returns the manager that owns the changes of a request: its fieldManager, or the User-Agent up to the first '/'. */
export function fieldManagerOf(request: ResourceRequest): Writer {
  const { definition, query, raw, server, info } = request;
  const manager = query.get('fieldManager') || managerFromUserAgent(raw.headers.get('user-agent') ?? '');
  const time = isoSeconds(server.now());
  return { definition, apiVersion: apiVersionOf(definition), manager, subresource: info.subresource, time };
}

/** Returns the product name without unprintable characters, truncated to the length limit. */
export function managerFromUserAgent(agent: string): string {
  const [product = ''] = agent.split('/', 1);
  if (product.length <= maxManagerBytes && /^[\x20-\x7e]*$/.test(product)) return product;
  let manager = '';
  let size = 0;
  for (const letter of product.replace(/\p{C}/gu, '')) {
    size += Buffer.byteLength(letter);
    if (size > maxManagerBytes) break;
    manager += letter;
  }
  return manager;
}

/** Returns the object with these managedFields; undefined removes the field. */
export function withManagedFields(
  object: KubeObject,
  managedFields: ManagedFieldsEntry[] | undefined,
): KubeObject {
  const { managedFields: _former, ...metadata } = object.metadata;
  return { ...object, metadata: managedFields ? { ...metadata, managedFields } : metadata };
}

/** Computes the managedFields of the object to store, after defaulting. */
export type ManagedFieldsOf = (next: KubeObject) => ManagedFieldsEntry[] | undefined;

/** Binds `trackUpdate` to the manager of this request. @param supplied managedFields from the client */
export function trackManagedFields(
  request: ResourceRequest,
  old: KubeObject | undefined,
  supplied: unknown,
): ManagedFieldsOf {
  return (next) => trackUpdate(fieldManagerOf(request), old, next, supplied);
}
