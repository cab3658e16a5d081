import type { IResponseHeader, ITxnResponse } from 'etcd3';
import { ArcError } from '#shared/base/errors';
import type { WriteResult } from '../interface/store.ts';
import { type Keyspace, revisionOf } from './keyspace.ts';
import { checkRefusal, type KeyState, type LostWrite, type ReadAt, resolveWrite } from './resolve-write.ts';

/**
 * Limit of concurrent writes. kine holds one connection to PostgreSQL per write and needs a second: if none is left, all writes deadlock
 * until they time out. Three API servers stay below the 60 connections of knative/components/external-database.
 */
export const kineWrites = 16;

/** Tells whether a response is from kine, which implements the etcd API on a SQL database: it has no cluster ID. */
export function isKine(header: IResponseHeader): boolean {
  return Number(header.cluster_id) === 0;
}

/**
 * Returns the actual outcome of a write to kine. If the database fails during a write, kine 0.17 responds as if the comparison had failed,
 * or as if a create had succeeded (pkg/logstructured/logstructured.go: Create, Update and Delete drop the error of Append). Therefore a
 * create is read back, and a conflict is checked against the history of the key. Rejects with Timeout if the write may still be applied.
 */
export async function checkKineAnswer(
  write: LostWrite,
  { succeeded, header, responses }: ITxnResponse,
  keyspace: Keyspace,
  readAt: ReadAt,
): Promise<WriteResult> {
  const revision = revisionOf(header.revision);
  const cause = new ArcError('ServiceUnavailable', 'kine could not write to its database: see its log');
  if (succeeded && write.expected === 0) {
    if (await isCreated(revision, readAt)) return { ok: true, revision };
    return resolveWrite(write, readAt, cause);
  }
  const [first] = responses;
  // A delete of an absent key succeeds with a deleted count of 0.
  if (succeeded && (write.value || Number(first?.response_delete_range.deleted) > 0))
    return { ok: true, revision };
  const pair = succeeded ? undefined : first?.response_range.kvs[0];
  const item: KeyState['item'] = pair && {
    ...keyspace.item(pair),
    created: revisionOf(pair.create_revision),
  };
  return checkRefusal(write, { item, revision }, readAt, cause);
}

async function isCreated(revision: number, readAt: ReadAt): Promise<boolean> {
  const { item } = await readAt(0);
  if (item?.created === revision) return true;
  // Another client may have deleted the key since.
  if (item && item.created < revision) return false;
  return (await readAt(revision)).item?.revision === revision;
}
