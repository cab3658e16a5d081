import { crc32 } from 'node:zlib';
import type { EventRecord } from '../memory/history.ts';
import { corrupt } from './damage.ts';

/*
 * What lies on disk, each part behind a checksum (CRC-32) that covers what it is found by as well: a part that is read under another key, or
 * with one byte changed, is not taken for the right one.
 */

const checksumBytes = 4;
const recordHeadBytes = 13;
/** Checksum, and the length of the key. */
const valueHeadBytes = checksumBytes + 2;

/**
 * One event, without values: each value is stored once, under the revision that wrote it. Checksum (4 bytes), type (1), revision of what it
 * replaced (8, 0 if nothing), size of that (4), the key.
 */
export function encodeRecord({ type, key, revision, previous, previousBytes }: EventRecord): Buffer {
  const bytes = Buffer.allocUnsafe(checksumBytes + recordHeadBytes + Buffer.byteLength(key));
  bytes.writeUInt8(type === 'put' ? 0 : 1, checksumBytes);
  bytes.writeBigUInt64BE(BigInt(previous), checksumBytes + 1);
  bytes.writeUInt32BE(previousBytes, checksumBytes + 9);
  bytes.write(key, checksumBytes + recordHeadBytes);
  return seal(bytes, revision);
}

/** Throws StoreDamaged if these are not the bytes that were written. */
export function decodeRecord(revision: number, bytes: Buffer): EventRecord {
  if (!isSealed(bytes, revision, checksumBytes + recordHeadBytes))
    throw corrupt(`the event of revision ${revision}`);
  return decodeBareRecord(revision, bytes.subarray(checksumBytes));
}

/** An event of format 2, which had no checksum. */
export function decodeBareRecord(revision: number, bytes: Buffer): EventRecord {
  if (bytes.length <= recordHeadBytes) throw corrupt(`the event of revision ${revision}`);
  return {
    type: bytes.readUInt8() === 0 ? 'put' : 'delete',
    key: bytes.toString('utf8', recordHeadBytes),
    revision,
    previous: Number(bytes.readBigUInt64BE(1)),
    previousBytes: bytes.readUInt32BE(9),
  };
}

/** A value, with its key: what has lost its index can still be attributed. Checksum (4 bytes), length of the key (2), the key, the value. */
export function encodeValue({ key, value, revision }: WrittenValue): Buffer {
  const keyBytes = Buffer.byteLength(key);
  const bytes = Buffer.allocUnsafe(valueHeadBytes + keyBytes + value.byteLength);
  bytes.writeUInt16BE(keyBytes, checksumBytes);
  bytes.write(key, valueHeadBytes);
  bytes.set(value, valueHeadBytes + keyBytes);
  return seal(bytes, revision);
}

export interface WrittenValue {
  key: string;
  value: Uint8Array;
  revision: number;
}

/** A copy of what was written at a revision; undefined if these are not the bytes that were written then. */
export function decodeValue(revision: number, bytes: Buffer): WrittenValue | undefined {
  if (!isSealed(bytes, revision, valueHeadBytes)) return undefined;
  const start = valueHeadBytes + bytes.readUInt16BE(checksumBytes);
  if (start > bytes.length) return undefined;
  const key = bytes.toString('utf8', valueHeadBytes, start);
  return { key, value: new Uint8Array(bytes.subarray(start)), revision };
}

/** A short text with its checksum. */
export function encodeText(text: string): Buffer {
  return Buffer.from(`${text}:${crc32(text).toString(16).padStart(8, '0')}`);
}

/** The text that was encoded; undefined if these bytes are none. */
export function decodeText(bytes: Buffer): string | undefined {
  const [, text = ''] = /^(.*):[0-9a-f]{8}$/.exec(bytes.toString()) ?? [];
  return text !== '' && encodeText(text).equals(bytes) ? text : undefined;
}

/** A revision as a key or value: 8 bytes, big endian, so that keys are in order. */
export function encodeRevision(revision: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigUInt64BE(BigInt(revision));
  return bytes;
}

/** Writes the checksum of the bytes behind it, and of the revision that they are found by. */
function seal(bytes: Buffer, revision: number): Buffer {
  bytes.writeUInt32BE(checksumOf(bytes, revision));
  return bytes;
}

function isSealed(bytes: Buffer, revision: number, headBytes: number): boolean {
  return bytes.length > headBytes && bytes.readUInt32BE() === checksumOf(bytes, revision);
}

function checksumOf(bytes: Buffer, revision: number): number {
  return crc32(bytes.subarray(checksumBytes), crc32(String(revision)));
}
