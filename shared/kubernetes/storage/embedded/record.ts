import { crc32 } from 'node:zlib';
import type { EventRecord } from '../memory/history.ts';
import { corrupt } from './damage.ts';

/*
 * Encodings of the parts on disk, each with a checksum (CRC-32) that also covers its revision: a part under another key, or with a changed
 * byte, is detected.
 */

const checksumBytes = 4;
const recordHeadBytes = 13;
/** Checksum and key length. */
const valueHeadBytes = checksumBytes + 2;

/**
 * Encodes an event without values, which are stored once under their revision. Layout: checksum (4 bytes), type (1), revision of the replaced
 * item (8, 0: none), size of its value (4), key.
 */
export function encodeRecord({ type, key, revision, previous, previousBytes }: EventRecord): Buffer {
  const bytes = Buffer.allocUnsafe(checksumBytes + recordHeadBytes + Buffer.byteLength(key));
  bytes.writeUInt8(type === 'put' ? 0 : 1, checksumBytes);
  bytes.writeBigUInt64BE(BigInt(previous), checksumBytes + 1);
  bytes.writeUInt32BE(previousBytes, checksumBytes + 9);
  bytes.write(key, checksumBytes + recordHeadBytes);
  return seal(bytes, revision);
}

/** Decodes an event. Throws StoreDamaged if the checksum does not match. */
export function decodeRecord(revision: number, bytes: Buffer): EventRecord {
  if (!isSealed(bytes, revision, checksumBytes + recordHeadBytes))
    throw corrupt(`the event of revision ${revision}`);
  return decodeBareRecord(revision, bytes.subarray(checksumBytes));
}

/** Decodes an event of format 2, which has no checksum. */
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

/** Encodes a value with its key, so that it can be recovered without the index. Layout: checksum (4 bytes), key length (2), key, value. */
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

/** Decodes a copy of a value; undefined if the checksum does not match. */
export function decodeValue(revision: number, bytes: Buffer): WrittenValue | undefined {
  if (!isSealed(bytes, revision, valueHeadBytes)) return undefined;
  const start = valueHeadBytes + bytes.readUInt16BE(checksumBytes);
  if (start > bytes.length) return undefined;
  const key = bytes.toString('utf8', valueHeadBytes, start);
  return { key, value: new Uint8Array(bytes.subarray(start)), revision };
}

/** Encodes a short text with its checksum. */
export function encodeText(text: string): Buffer {
  return Buffer.from(`${text}:${crc32(text).toString(16).padStart(8, '0')}`);
}

/** Decodes a text; undefined if the checksum does not match. */
export function decodeText(bytes: Buffer): string | undefined {
  const [, text = ''] = /^(.*):[0-9a-f]{8}$/.exec(bytes.toString()) ?? [];
  return text !== '' && encodeText(text).equals(bytes) ? text : undefined;
}

/** Encodes a revision in 8 bytes, big endian, so that keys are sorted. */
export function encodeRevision(revision: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigUInt64BE(BigInt(revision));
  return bytes;
}

/** Writes the checksum of the following bytes and the revision. */
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
