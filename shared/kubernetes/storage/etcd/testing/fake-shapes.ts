import { isDeepStrictEqual } from 'node:util';
import type { IRangeRequest, ITxnRequest, IWatchCreateRequest } from 'etcd3';

/** A transaction of a supported shape; without a value, a delete. */
export type KnownTransaction =
  | { type: 'write'; key: Buffer; value: Buffer | undefined; expected: number }
  | { type: 'compaction'; key: Buffer; value: Buffer; version: number };

/**
 * Parses the transactions that kine supports (create, update, delete and the compaction turn of kube-apiserver). Throws for all others.
 */
export function knownTransaction(request: ITxnRequest): KnownTransaction {
  const key = request.compare?.[0]?.key;
  const value = request.success?.[0]?.request_put?.value;
  const expected = Number(request.compare?.[0]?.mod_revision);
  const version = Number(request.compare?.[0]?.version);
  if (!key) throw unsupported(request);
  const read = [{ request_range: { key } }];
  const mod = [{ target: 'Mod', result: 'Equal', key, mod_revision: expected }];
  const isRead = isDeepStrictEqual(request.failure, read);
  const isCreate = expected === 0 && (isRead || request.failure?.length === 0);
  if (isDeepStrictEqual(request.compare, mod) && (isRead || isCreate)) {
    if (isDeepStrictEqual(request.success, [{ request_put: { key, value } }]) && value)
      return { type: 'write', key, value, expected };
    if (isDeepStrictEqual(request.success, [{ request_delete_range: { key } }]) && expected > 0)
      return { type: 'write', key, value: undefined, expected };
  }
  const turn = {
    compare: [{ target: 'Version', result: 'Equal', key, version }],
    success: [{ request_put: { key, value } }],
    failure: read,
  };
  if (isDeepStrictEqual(request, turn) && value && key.equals(Buffer.from('compact_rev_key')))
    return { type: 'compaction', key, value, version };
  throw unsupported(request);
}

const rangeFields = ['key', 'range_end', 'revision', 'limit', 'count_only', 'keys_only'];
const watchFields = ['key', 'range_end', 'start_revision', 'prev_kv', 'progress_notify', 'fragment'];

/** Throws for options that kine ignores or rejects: sort, serializable, revision bounds. */
export function checkRange(request: IRangeRequest): void {
  if (Object.keys(request).some((field) => !rangeFields.includes(field))) throw unsupported(request);
}

/** Throws for client-selected watch IDs and filters. */
export function checkWatch(request: IWatchCreateRequest): void {
  if (Object.keys(request).some((field) => !watchFields.includes(field))) throw unsupported(request);
}

function unsupported(request: object): Error {
  return new Error(`12 UNIMPLEMENTED: not supported: ${JSON.stringify(request)}`);
}
