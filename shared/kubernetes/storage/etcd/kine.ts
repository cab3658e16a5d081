import type { IResponseHeader, ITxnResponse } from 'etcd3';
import { ArcError } from '#shared/base/errors';
import type { WriteResult } from '../interface/store.ts';
import { type Keyspace, revisionOf } from './keyspace.ts';
import { checkRefusal, type LostWrite, type Now, type ReadAt, resolveWrite } from './resolve-write.ts';

/**
 * Writes at once. For each, kine holds one connection to PostgreSQL and needs another: where there are none left, all of them stand
 * still until they time out. Three api-servers stay below the 60 connections of knative/components/external-database.
 */
export const kineWrites = 16;

/** Whether kine answered, which speaks etcd's protocol in front of a SQL database: etcd names its cluster in every answer. */
export function isKine(header: IResponseHeader): boolean {
  return Number(header.cluster_id) === 0;
}

/**
 * Returns what became of a write that kine has answered. When the database fails in the middle of a write, kine 0.17 answers as if the
 * condition had failed, or as if a create had taken place (pkg/logstructured/logstructured.go, Create, Update and Delete drop the
 * error of their Append). So a create is read back, and a refusal is checked against the history of its key. Rejects with Timeout
 * where the write may yet take place.
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
  // The delete of a key that is absent succeeds as well, and says that it deleted nothing.
  if (succeeded && (write.value || Number(first?.response_delete_range.deleted) > 0))
    return { ok: true, revision };
  const pair = succeeded ? undefined : first?.response_range.kvs[0];
  const item: Now['item'] = pair && { ...keyspace.item(pair), created: revisionOf(pair.create_revision) };
  return checkRefusal(write, { item, revision }, readAt, cause);
}

async function isCreated(revision: number, readAt: ReadAt): Promise<boolean> {
  const { item } = await readAt(0);
  if (item?.created === revision) return true;
  // Somebody may have deleted the key since.
  if (item && item.created < revision) return false;
  return (await readAt(revision)).item?.revision === revision;
}
