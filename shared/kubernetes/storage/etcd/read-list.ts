import type { IRangeRequest, IRangeResponse } from 'etcd3';
import { compareKeys } from '../interface/keys.ts';
import type { StoredItem, StoredList } from '../interface/store.ts';
import { type Keyspace, revisionOf } from './keyspace.ts';

/** Page size: decoding 500 objects blocks the event loop for 3 to 4 ms. */
const pageItems = 500;

export interface ListRequest {
  prefix: string;
  start: string | undefined;
  limit: number | undefined;
  /** 0: the newest revision. */
  revision: number;
}

/** Reads a range in pages, at the revision of the first page. */
export async function readList(
  range: (request: IRangeRequest) => Promise<IRangeResponse>,
  keyspace: Keyspace,
  { prefix, start = prefix, limit = Number.POSITIVE_INFINITY, revision }: ListRequest,
): Promise<StoredList> {
  const { key, range_end } = keyspace.range(prefix);
  const items: StoredItem[] = [];
  let from = compareKeys(start, prefix) > 0 ? keyspace.encode(start) : key;
  let total: number | undefined;
  let at = revision;
  for (;;) {
    const size = Math.min(pageItems, limit - items.length);
    const page = await range({ key: from, range_end, limit: size, revision: at });
    at ||= revisionOf(page.header.revision);
    total ??= Number(page.count);
    for (const pair of page.kvs) items.push(keyspace.item(pair));
    const last = page.kvs.at(-1);
    if (!last || !page.more || items.length >= limit)
      return { items, revision: at, remaining: total - items.length };
    from = Buffer.concat([last.key, Buffer.of(0)]);
  }
}
