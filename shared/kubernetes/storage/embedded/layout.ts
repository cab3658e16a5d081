import { encodeRevision } from './record.ts';

/**
 * The areas of the keyspace by the first byte of the key: events and values by revision, the revision of each item by key. A value is
 * written once and kept while an item or an event of the history references it. Values are last, because they are appended.
 */
export const area = { meta: 1, history: 2, items: 3, values: 4 };

export const revisionKey = metaKey('revision');
export const formatKey = metaKey('format');
export const idKey = metaKey('id');
export const format = '3';
/** The format of earlier versions; see upgrade.ts. */
export const formatWithoutChecksums = '2';

/** The data file of LMDB. */
export const dataFile = 'data.mdb';

/** Values larger than half a page use overflow pages. Most values have 2 to 4 kB. */
export const pageSize = 8192;

/** Returns the key of a metadata entry. */
export function metaKey(name: string): Buffer {
  return Buffer.concat([Buffer.of(area.meta), Buffer.from(name)]);
}

/** Returns the key of a revision in an area. */
export function revisionKeyOf(of: number, revision: number): Buffer {
  return Buffer.concat([Buffer.of(of), encodeRevision(revision)]);
}
