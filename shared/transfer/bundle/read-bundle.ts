import type { KeyObject } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { type ExtractEvents, extract } from 'tar-stream';
import { isSigned } from '../attest/detached-signature.ts';
import { TransferError, throwIfAborted } from '../errors/transfer-error.ts';
import { type LayoutReader, markerText } from '../layout/layout-files.ts';
import { digestOf, hashFor } from '../reference/digest.ts';
import { findParts, IncompleteBundle, type Parts } from './parts.ts';
import {
  type BundleRecord,
  bundleDigest,
  maxRecordBytes,
  parseRecord,
  recordName,
  signatureName,
} from './record.ts';

/** A bundle that was verified from its first to its last byte. */
export interface Bundle {
  place: string;
  record: BundleRecord;
  /** The digest of its record, by which receipts and later bundles name it. */
  digest: string;
  /** `verified` by the key, `unchecked` without one, or there is none. */
  signature: 'verified' | 'unchecked' | 'none';
  /** Reads from the tar at offsets: nothing is unpacked. */
  reader: LayoutReader;
}

export interface ReadOptions {
  /** FILE.tar, its first part, or FILE.tar.* */
  name: string;
  /** Demands a signature of one of these public keys. */
  keys?: readonly KeyObject[];
  /** Refuses a bundle of another name or digest, an older one, or one with more bytes, before the rest of it is read. */
  expected?: { name?: string; digest?: string; notBefore?: Date; maxBytes?: number };
  progress?: (done: number, total: number) => void;
  signal: AbortSignal;
}

/** A file that the record lists. */
interface Listed {
  digest: string;
  size: number;
}
/** Where the content of a file lies in the tar. */
interface Found extends Listed {
  offset: number;
}

type Entry = ExtractEvents['entry'][1];

const maxSignatureBytes = 4096;
const headerBytes = 512;

/**
 * Verifies a bundle: the record and its signature first, then that the tar has each file that the record lists once, of its size and digest, and nothing
 * else. Rejects with a TransferError that names the file or the part that is wrong.
 */
export async function readBundle({
  name,
  keys,
  expected = {},
  progress,
  signal,
}: ReadOptions): Promise<Bundle> {
  const parts = await findParts(name);
  const { place, size } = parts;
  const { maxBytes = Number.POSITIVE_INFINITY } = expected;
  if (size > maxBytes)
    throw refused(place, `it has ${size} bytes, more than the limit of ${maxBytes} (ARC_MAX_BYTES)`);
  const reading = new Reading(parts, keys, expected);
  const archive = extract();
  let done = 0;
  progress?.(0, parts.size);
  async function* content(): AsyncGenerator<Uint8Array> {
    for await (const chunk of parts.stream(0, parts.size) as AsyncIterable<Buffer>) {
      yield chunk;
      done += chunk.length;
      progress?.(done, parts.size);
    }
  }
  const feeding = pipeline(content(), archive, { signal });
  // Reported when the entries are read.
  feeding.catch(() => undefined);
  try {
    for await (const entry of archive) await reading.take(entry);
    await feeding;
  } catch (caught) {
    throwIfAborted(signal);
    if (caught instanceof TransferError) throw caught;
    const why = caught instanceof Error ? caught.message : String(caught);
    if (why === 'Unexpected end of data') throw cut(place, parts.cutShort);
    throw refused(place, `it is not a tar that arc-transfer wrote: ${why}`, caught);
  } finally {
    archive.destroy();
    await feeding.catch(() => undefined);
  }
  return reading.whole();
}

/** What has been read of a tar so far. */
class Reading {
  readonly #parts: Parts;
  readonly #keys: readonly KeyObject[] | undefined;
  readonly #wanted: NonNullable<ReadOptions['expected']>;
  #record: BundleRecord | undefined;
  #bytes: Buffer = Buffer.alloc(0);
  #signature: Bundle['signature'] = 'none';
  #entries = 0;
  #expected = new Map<string, Listed>();
  readonly #found = new Map<string, Found>();

  constructor(parts: Parts, keys: ReadOptions['keys'], wanted: NonNullable<ReadOptions['expected']>) {
    this.#parts = parts;
    this.#keys = keys;
    this.#wanted = wanted;
  }

  /** The record is the first entry, its signature the second one, if there is one. */
  async take(entry: Entry): Promise<void> {
    const { name, type } = entry.header;
    this.#entries += 1;
    if (type !== 'file')
      throw this.#refused(`it has ${quoted(name)}, which is ${type ?? 'of an unknown kind'} and not a file`);
    if (this.#entries === 1) return this.#takeRecord(entry);
    if (this.#entries === 2 && name === signatureName) return this.#takeSignature(entry);
    this.#mustBeSigned();
    await this.#takeListed(entry);
  }

  whole(): Bundle {
    const { place, cutShort } = this.#parts;
    if (this.#record === undefined) throw cut(place, `it has no ${recordName}; ${cutShort}`);
    // One that ends with its record lacks its signature and its files.
    if (this.#entries > 1) this.#mustBeSigned();
    const missing = [...this.#expected.keys()].find((name) => !this.#found.has(name));
    if (missing !== undefined) throw cut(place, `it has no ${missing}, which its record lists; ${cutShort}`);
    return {
      place,
      record: this.#record,
      digest: bundleDigest(this.#bytes),
      signature: this.#signature,
      reader: readerOf(this.#parts, this.#found),
    };
  }

  async #takeRecord(entry: Entry): Promise<void> {
    if (entry.header.name !== recordName)
      throw this.#refused(
        `it begins with ${quoted(entry.header.name)} and not with ${recordName}: it is no bundle`,
      );
    this.#bytes = await this.#small(entry, maxRecordBytes);
    const record = parseRecord(this.#bytes, `${recordName} of ${this.#parts.place}`);
    this.#record = record;
    this.#mustBeWanted(record);
    const marker = Buffer.from(markerText);
    this.#expected = new Map<string, Listed>([
      ['oci-layout', { digest: digestOf(marker), size: marker.length }],
      ['index.json', record.index],
      ...record.blobs.map((blob) => [fileName(blob.digest), blob] as const),
    ]);
    // Told at once, and not after hours of reading.
    const least = record.blobs.reduce((sum, { size }) => sum + 512 + size, 0);
    if (least > this.#parts.size) throw cut(this.#parts.place, this.#parts.cutShort);
  }

  async #takeSignature(entry: Entry): Promise<void> {
    const signature = await this.#small(entry, maxSignatureBytes);
    this.#signature = 'unchecked';
    if (this.#keys === undefined) return;
    if (!isSigned(this.#bytes, signature, this.#keys))
      throw this.#refused(
        `its signature was not made with this key over its ${recordName}: do not trust it, or give the right key`,
      );
    this.#signature = 'verified';
  }

  /** Names are not used twice, so an old bundle that lies under a new name is one that somebody has put there. */
  #mustBeWanted({ name, created }: BundleRecord): void {
    const { name: wanted = name, digest = bundleDigest(this.#bytes), notBefore } = this.#wanted;
    if (name !== wanted)
      throw this.#refused(
        `it is the bundle ${quoted(name)} of ${created} under the name of another one: carry ${quoted(wanted)} here again from where it was made`,
      );
    if (digest !== bundleDigest(this.#bytes))
      throw this.#refused(
        `its digest is ${bundleDigest(this.#bytes)}, and ${digest} was asked for: it was made at ${created}; carry the right one here, or ask for this one`,
      );
    if (notBefore !== undefined && Date.parse(created) < notBefore.getTime())
      throw this.#refused(
        `it is the bundle ${quoted(name)} of ${created}, and one that was made at ${notBefore.toISOString()} or later was asked for`,
      );
  }

  #mustBeSigned(): void {
    if (this.#keys !== undefined && this.#signature !== 'verified')
      throw this.#refused('it is not signed, and a key was given: export it with a key that signs');
  }

  async #takeListed(entry: Entry): Promise<void> {
    const { name, size = 0 } = entry.header;
    const listed = this.#expected.get(name);
    if (listed === undefined) throw this.#refused(`it has ${quoted(name)}, which its record does not list`);
    if (this.#found.has(name)) throw this.#refused(`it has ${name} twice`);
    if (size !== listed.size)
      throw this.#refused(`${name} has ${size} bytes, and its record says ${listed.size}`);
    const hash = hashFor(listed.digest);
    this.#found.set(name, { ...listed, offset: entry.offset + headerBytes });
    for await (const chunk of entry as AsyncIterable<Buffer>) hash.update(chunk);
    if (`${listed.digest.split(':')[0]}:${hash.digest('hex')}` !== listed.digest)
      throw this.#refused(
        `the content of ${name} does not have the digest ${listed.digest}: it was damaged or changed`,
      );
  }

  async #small(entry: Entry, limit: number): Promise<Buffer> {
    if ((entry.header.size ?? 0) > limit)
      throw this.#refused(`${quoted(entry.header.name)} has more than ${limit} bytes`);
    const chunks: Buffer[] = [];
    for await (const chunk of entry as AsyncIterable<Buffer>) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  #refused(why: string): TransferError {
    return refused(this.#parts.place, why);
  }
}

/** The layout in a tar. Whatever is read of it is hashed again, so a file that changes in between is noticed. */
function readerOf(parts: Parts, found: ReadonlyMap<string, Found>): LayoutReader {
  return {
    place: parts.place,
    size: async (digest) => found.get(fileName(digest))?.size,
    async open(digest, start) {
      const file = found.get(fileName(digest));
      if (file === undefined) return undefined;
      const { offset, size } = file;
      return { size, stream: parts.stream(offset + Math.min(start, size), offset + size) };
    },
    async read(name, limit) {
      const file = found.get(name);
      if (file === undefined) return undefined;
      if (file.size > limit) throw refused(parts.place, `${name} has more than ${limit} bytes`);
      const bytes = await buffer(parts.stream(file.offset, file.offset + file.size));
      if (digestOf(bytes, file.digest) === file.digest) return bytes;
      throw refused(parts.place, `${name} was changed after it was verified: do not trust it`);
    },
  };
}

/** The name of a blob in a layout. */
export function fileName(digest: string): string {
  return `blobs/${digest.replace(':', '/')}`;
}

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 200));
}

function cut(place: string, why: string): IncompleteBundle {
  return new IncompleteBundle(`Nothing was imported from ${place}: ${why}.`);
}

function refused(place: string, why: string, cause?: unknown): TransferError {
  return new TransferError('permanent', `Nothing was imported from ${place}: ${why}.`, {
    ...(cause !== undefined && { cause }),
  });
}
