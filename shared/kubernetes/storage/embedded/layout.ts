import { encodeRevision } from './record.ts';

/**
 * The folders of one keyspace, distinguished by the first byte of the key: events and values by their revision, the revision of each item
 * by its key. A value is written once: what replaces it leaves it in its place, for as long as the history has the event that did. Values
 * are the last folder: they are appended.
 */
export const area = { meta: 1, history: 2, items: 3, values: 4 };

export const revisionKey = metaKey('revision');
export const formatKey = metaKey('format');
export const idKey = metaKey('id');
export const format = '3';
/** Of earlier versions: see upgrade.ts. */
export const formatWithoutChecksums = '2';

/** The file of LMDB in the folder. */
export const dataFile = 'data.mdb';

/** What is larger than half of a page takes whole pages of its own. Most values are 2 to 4 kB. */
export const pageSize = 8192;

/** The key of a text that the store has about itself. */
export function metaKey(name: string): Buffer {
  return Buffer.concat([Buffer.of(area.meta), Buffer.from(name)]);
}

/** The key of what a revision has in a folder. */
export function revisionKeyOf(of: number, revision: number): Buffer {
  return Buffer.concat([Buffer.of(of), encodeRevision(revision)]);
}
