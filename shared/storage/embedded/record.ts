import { ArcError } from '#shared/errors';
import type { StoredItem, StoreEvent } from '../store.ts';

/**
 * One event as it lies on disk: what the write replaced, not what it wrote. What it wrote is the key's item, or the
 * `previous` of the key's next event, so that every value is stored once.
 */
export interface UndoRecord {
  type: StoreEvent['type'];
  key: string;
  revision: number;
  previous: StoredItem | undefined;
}

/** An item's value on disk: its revision (8 bytes, big endian), then its value. */
export function encodeItem(item: StoredItem): Buffer {
  const head = Buffer.allocUnsafe(8);
  head.writeBigUInt64BE(BigInt(item.revision));
  return Buffer.concat([head, item.value]);
}

/** Copies: nothing handed out may alias memory that lmdb maps. */
export function decodeItem(key: string, bytes: Buffer): StoredItem {
  if (bytes.length < 8) throw corrupt(`the item ${key}`);
  return { key, value: new Uint8Array(bytes.subarray(8)), revision: Number(bytes.readBigUInt64BE()) };
}

/** Type (1 byte), length of the key (2), revision of the previous item (8, 0 if none), the key, the previous value. */
export function encodeUndo(event: UndoRecord): Buffer {
  const key = Buffer.from(event.key);
  const head = Buffer.allocUnsafe(11);
  head.writeUInt8(event.type === 'put' ? 0 : 1);
  head.writeUInt16BE(key.length, 1);
  head.writeBigUInt64BE(BigInt(event.previous?.revision ?? 0), 3);
  return Buffer.concat([head, key, event.previous?.value ?? new Uint8Array()]);
}

/** Copies, as decodeItem does. */
export function decodeUndo(revision: number, bytes: Buffer): UndoRecord {
  const end = bytes.length < 11 ? Number.NaN : 11 + bytes.readUInt16BE(1);
  if (!(bytes.length >= end)) throw corrupt(`the event of revision ${revision}`);
  const key = bytes.toString('utf8', 11, end);
  const before = Number(bytes.readBigUInt64BE(3));
  const previous = before ? { key, value: new Uint8Array(bytes.subarray(end)), revision: before } : undefined;
  return { type: bytes.readUInt8() === 0 ? 'put' : 'delete', key, revision, previous };
}

/** Turns undo records (in revision order) back into events, walking from the items of today into the past. */
export function restoreEvents(records: readonly UndoRecord[], items: readonly StoredItem[]): StoreEvent[] {
  const after = new Map<string, StoredItem | undefined>(items.map((item) => [item.key, item]));
  const events: StoreEvent[] = [];
  for (const record of records.toReversed()) {
    events.push(eventOf(record, after.get(record.key)));
    after.set(record.key, record.previous);
  }
  return events.reverse();
}

function eventOf({ type, key, revision, previous }: UndoRecord, after: StoredItem | undefined): StoreEvent {
  if (type === 'put' && after?.revision === revision) {
    return { type, key, value: after.value, revision, previous };
  }
  if (type === 'delete' && !after && previous) return { type, key, revision, previous };
  throw corrupt(`the event of revision ${revision} (${key})`);
}

function corrupt(what: string): ArcError {
  return new ArcError(
    'InternalError',
    `the store is damaged: ${what} cannot be read; restore the folder from a backup`,
  );
}
