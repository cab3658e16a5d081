import { corrupt, StoreDamaged } from './damage.ts';
import { type Database, entries } from './disk.ts';
import { ownerKey, refuseRunningOwner } from './earlier-owner.ts';
import {
  area,
  format,
  formatKey,
  formatWithoutChecksums,
  idKey,
  revisionKey,
  revisionKeyOf,
} from './layout.ts';
import { decodeBareRecord, encodeRecord, encodeText, encodeValue } from './record.ts';

/**
 * Upgrades format 2 to format 3, which adds checksums, in one transaction. Detects damage of format 2 only where it violates the format.
 * Throws StoreDamaged, or `Conflict` while a process of the earlier version uses the folder, without changes.
 */
export function upgrade(database: Database, id: string): void {
  if (database.get(formatKey)?.toString() !== formatWithoutChecksums) return;
  const revision = Number(database.get(revisionKey)?.toString());
  if (!Number.isSafeInteger(revision)) throw corrupt('the newest revision');
  const records = Array.from(entries(database, area.history), ({ key, value }) =>
    decodeBareRecord(Number(key.readBigUInt64BE(1)), value),
  );
  const keyOf = ownersOf(database);
  for (const record of records) {
    if (record.previous > 0) keyOf.set(record.previous, record.key);
    if (record.type === 'put') keyOf.set(record.revision, record.key);
  }
  const values = Array.from(database.getKeys({ start: Buffer.of(area.values) }), Buffer.from);
  database.transactionSync(() => {
    // Checked within the write transaction: an earlier version that starts now sees the new format.
    refuseRunningOwner(database.get(ownerKey));
    for (const record of records)
      database.putSync(revisionKeyOf(area.history, record.revision), encodeRecord(record));
    for (const at of values) {
      const written = Number(at.readBigUInt64BE(1));
      const key = keyOf.get(written);
      const value = database.get(at);
      if (key === undefined || !value) database.removeSync(at);
      else database.putSync(at, encodeValue({ key, value, revision: written }));
    }
    database.putSync(revisionKey, encodeText(String(revision)));
    database.putSync(formatKey, encodeText(format));
    database.putSync(idKey, encodeText(id));
    database.removeSync(ownerKey);
  });
}

/** Returns the keys of the items by revision. */
function ownersOf(database: Database): Map<number, string> {
  const keyOf = new Map<number, string>();
  for (const { key: bytes, value } of entries(database, area.items)) {
    const key = bytes.toString('utf8', 1);
    if (value.length !== 8) throw corrupt(`the item ${key}`);
    const revision = Number(value.readBigUInt64BE());
    const other = keyOf.get(revision);
    if (other !== undefined)
      throw new StoreDamaged(`the items ${other} and ${key} both have revision ${revision}`);
    keyOf.set(revision, key);
  }
  return keyOf;
}
