import { ArcError } from '#shared/errors';
import type { StoredItem, WriteResult } from '#shared/storage';
import type { Use } from '../quota/usage-account.ts';
import { decodeObject } from '../registry/stored-object.ts';
import type { ResourceRequest } from '../request/api-request.ts';
import { deadline } from '../request/deadline.ts';

/** Stores something, or does nothing in a dry run. */
type Put<Result> = () => Promise<Result>;

/** Runs `put`, which stores a new object, if its namespace may hold it. Rejects with Forbidden. */
export function createWithinQuota<Result extends WriteResult | undefined>(
  request: ResourceRequest,
  name: string,
  value: Uint8Array,
  put: Put<Result>,
): Promise<Result> {
  return within(request, name, { objects: 1, bytes: value.byteLength }, put);
}

/**
 * Runs `put`, which changes an object, if its namespace may hold the new one. Rejects with Forbidden. Status and actions are not limited, nor
 * are the programs that keep the objects, nor an update that makes nothing larger that its user wrote.
 */
export async function updateWithinQuota<Result extends WriteResult | undefined>(
  request: ResourceRequest,
  old: StoredItem,
  next: StoredItem,
  put: Put<Result>,
): Promise<Result> {
  const { info, server, user } = request;
  const bytes = next.value.byteLength - old.value.byteLength;
  if (bytes <= 0 || info.subresource !== '' || server.quota?.isExempt(user) !== false) return put();
  try {
    return await within(request, info.name, { objects: 0, bytes }, put);
  } catch (caught) {
    if (!ArcError.is(caught, 'Forbidden') || contentGrows(old, next)) throw caught;
  }
  return put();
}

function within<Result extends WriteResult | undefined>(
  request: ResourceRequest,
  name: string,
  growth: Use,
  put: Put<Result>,
): Promise<Result> {
  const { definition, namespace, server } = request;
  const { quota } = server;
  if (!quota || definition.group !== quota.group || definition.scope === 'Cluster') return put();
  return quota.run({ definition, namespace, name, growth, signal: () => deadline(request) }, put);
}

/** Bytes of managedFields that an object may have beside what its namespace may hold: a first edit by another client adds an entry. */
const freeManagedFields = 4 * 1024;

/** False where only the server's own records grow, managedFields and the generation. */
function contentGrows(old: StoredItem, next: StoredItem): boolean {
  const [before, after] = [measure(old), measure(next)];
  return (
    after.content > before.content || after.managedFields > Math.max(freeManagedFields, before.managedFields)
  );
}

function measure(item: StoredItem): { content: number; managedFields: number } {
  const { managedFields: owners, generation } = decodeObject(item).metadata;
  const managedFields = owners === undefined ? 0 : Buffer.byteLength(JSON.stringify(owners));
  return { content: item.value.byteLength - managedFields - String(generation).length, managedFields };
}
