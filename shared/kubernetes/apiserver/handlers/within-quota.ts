import { ArcError } from '#shared/base/errors';
import type { StoredItem, WriteResult } from '#shared/kubernetes/storage';
import type { GrowingWrite, Quota } from '../quota/quota.ts';
import { decodeObject } from '../registry/stored-object.ts';
import type { ResourceRequest } from '../request/api-request.ts';
import { deadline } from '../request/api-request.ts';

/** A write to the store, or its substitute in a dry run. */
interface Put<Result extends WriteResult | undefined> {
  run: () => Promise<Result>;
  dryRun: boolean;
}

/**
 * Runs `put`, which stores a new object, within the quota of its namespace. Rejects with Forbidden above the quota, with
 * TooManyRequests above the write rate.
 */
export function createWithinQuota<Result extends WriteResult | undefined>(
  request: ResourceRequest,
  name: string,
  value: Uint8Array,
  put: Put<Result>,
): Promise<Result> {
  const { quota } = request.server;
  if (!quota || !isLimited(request, quota)) return put.run();
  const run = quota.isExempt(request.user) ? put.run : charged(request, quota, value, put);
  return within(request, quota, { name, growth: { objects: 1, bytes: value.byteLength } }, run);
}

/**
 * Runs `put`, which stores a changed object, within the quota. Updates of status and of exempt users are unlimited. Actions and updates
 * that do not grow user content are subject to the write rate only.
 */
export async function updateWithinQuota<Result extends WriteResult | undefined>(
  request: ResourceRequest,
  old: StoredItem,
  next: StoredItem,
  put: Put<Result>,
): Promise<Result> {
  const { info, server, user } = request;
  const { quota } = server;
  if (!quota || !isLimited(request, quota) || info.subresource === 'status' || quota.isExempt(user))
    return put.run();
  const bytes = next.value.byteLength - old.value.byteLength;
  const run = charged(request, quota, next.value, put);
  if (bytes <= 0 || info.subresource !== '') return run();
  try {
    return await within(request, quota, { name: info.name, growth: { objects: 0, bytes } }, run);
  } catch (caught) {
    if (!ArcError.is(caught, 'Forbidden') || contentGrows(old, next)) throw caught;
  }
  return run();
}

function isLimited({ definition }: ResourceRequest, { group }: Quota): boolean {
  return definition.group === group && definition.scope === 'Namespaced';
}

function within<Result extends WriteResult | undefined>(
  request: ResourceRequest,
  quota: Quota,
  write: Pick<GrowingWrite, 'name' | 'growth'>,
  run: () => Promise<Result>,
): Promise<Result> {
  const { definition, namespace } = request;
  return quota.run({ definition, namespace, ...write, signal: () => deadline(request) }, run);
}

/** Charges the write rate. A retry after a conflict charges only the bytes by which the object has grown since the first attempt. */
function charged<Result extends WriteResult | undefined>(
  request: ResourceRequest,
  quota: Quota,
  value: Uint8Array,
  { run, dryRun }: Put<Result>,
): () => Promise<Result> {
  return async () => {
    const uncharged = value.byteLength - request.chargedBytes;
    if (!dryRun && uncharged > 0) {
      quota.charge(request.namespace, uncharged);
      request.chargedBytes += uncharged;
    }
    return run();
  };
}

/** Bytes of managedFields exempt from the quota: the first edit by another client adds an entry. */
const freeManagedFields = 4 * 1024;

/** Tells whether more than the server's bookkeeping (managedFields, generation) grows. */
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
