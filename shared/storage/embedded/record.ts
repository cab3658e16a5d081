import { ArcError } from '#shared/errors';
import type { EventRecord } from '../history.ts';

/**
 * One event as it lies on disk, without values: each value is stored once, under the revision that wrote it. Type (1 byte),
 * revision of what it replaced (8, 0 if nothing), size of that (4), the key.
 */
export function encodeRecord({ type, key, previous, previousBytes }: EventRecord): Buffer {
  const head = Buffer.allocUnsafe(headBytes);
  head.writeUInt8(type === 'put' ? 0 : 1);
  head.writeBigUInt64BE(BigInt(previous), 1);
  head.writeUInt32BE(previousBytes, 9);
  return Buffer.concat([head, Buffer.from(key)]);
}

const headBytes = 13;

export function decodeRecord(revision: number, bytes: Buffer): EventRecord {
  if (bytes.length <= headBytes) throw corrupt(`the event of revision ${revision}`);
  return {
    type: bytes.readUInt8() === 0 ? 'put' : 'delete',
    key: bytes.toString('utf8', headBytes),
    revision,
    previous: Number(bytes.readBigUInt64BE(1)),
    previousBytes: bytes.readUInt32BE(9),
  };
}

/** A revision as a key or value: 8 bytes, big endian, so that keys are in order. */
export function encodeRevision(revision: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigUInt64BE(BigInt(revision));
  return bytes;
}

export function corrupt(what: string): ArcError {
  return new ArcError(
    'InternalError',
    `the store is damaged: ${what} cannot be read; restore the folder from a backup`,
  );
}
