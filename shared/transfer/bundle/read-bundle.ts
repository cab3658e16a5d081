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

/** A bundle that was verified completely. */
export interface Bundle {
  place: string;
  record: BundleRecord;
  /** The digest of the record, by which receipts and later bundles identify this bundle. */
  digest: string;
  /** `verified` with a key, `unchecked` if no key was given, `none` if the bundle is not signed. */
  signature: 'verified' | 'unchecked' | 'none';
  /** Reads from the tar at offsets, without unpacking it. */
  reader: LayoutReader;
}

export interface ReadOptions {
  /** FILE.tar, its first part, or FILE.tar.* */
  name: string;
  /** Requires a signature by one of these public keys. */
  keys?: readonly KeyObject[];
  /** Rejects a bundle with another name or digest, with an older date, or with more bytes, before most of it is read. */
  expected?: { name?: string; digest?: string; notBefore?: Date; maxBytes?: number };
  progress?: (done: number, total: number) => void;
  signal: AbortSignal;
}

/** A file that the record lists. */
interface ListedFile {
  digest: string;
  size: number;
}
/** The position of a file's content in the tar. */
interface FoundFile extends ListedFile {
  offset: number;
}

type Entry = ExtractEvents['entry'][1];

const maxSignatureBytes = 4096;
const headerBytes = 512;

/**
 * Verifies a bundle: first the record and its signature, then that the tar has exactly the files of the record, each once and with the
 * recorded size and digest. Rejects with a TransferError that names the corrupt file or part.
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
  const reading = new BundleVerifier(parts, keys, expected);
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
  // Reported by the loop over the entries.
  feeding.catch(() => undefined);
  try {
    for await (const entry of archive) await reading.addEntry(entry);
    await feeding;
  } catch (caught) {
    throwIfAborted(signal);
    if (caught instanceof TransferError) throw caught;
    const why = caught instanceof Error ? caught.message : String(caught);
    if (why === 'Unexpected end of data') throw truncated(place, parts.truncation);
    throw refused(place, `it is not a tar that arc-transfer wrote: ${why}`, caught);
  } finally {
    archive.destroy();
    await feeding.catch(() => undefined);
  }
  return reading.finish();
}

/** Verifies the entries of a tar one by one. */
class BundleVerifier {
  readonly #parts: Parts;
  readonly #keys: readonly KeyObject[] | undefined;
  readonly #wanted: NonNullable<ReadOptions['expected']>;
  #record: BundleRecord | undefined;
  #bytes: Buffer = Buffer.alloc(0);
  #signature: Bundle['signature'] = 'none';
  #entries = 0;
  #expected = new Map<string, ListedFile>();
  readonly #found = new Map<string, FoundFile>();

  constructor(parts: Parts, keys: ReadOptions['keys'], wanted: NonNullable<ReadOptions['expected']>) {
    this.#parts = parts;
    this.#keys = keys;
    this.#wanted = wanted;
  }

  /** The record is the first entry; its signature, if any, is the second. */
  async addEntry(entry: Entry): Promise<void> {
    const { name, type } = entry.header;
    this.#entries += 1;
    if (type !== 'file')
      throw this.#refused(`its entry ${quoted(name)} is not a file, but ${type ?? 'of an unknown kind'}`);
    if (this.#entries === 1) return this.#addRecord(entry);
    if (this.#entries === 2 && name === signatureName) return this.#addSignature(entry);
    this.#requireSignature();
    await this.#addListedFile(entry);
  }

  finish(): Bundle {
    const { place, truncation: cutShort } = this.#parts;
    if (this.#record === undefined) throw truncated(place, `it has no ${recordName}; ${cutShort}`);
    // A tar that ends after its record lacks the signature and the files.
    if (this.#entries > 1) this.#requireSignature();
    const missing = [...this.#expected.keys()].find((name) => !this.#found.has(name));
    if (missing !== undefined)
      throw truncated(place, `it has no ${missing}, which its record lists; ${cutShort}`);
    return {
      place,
      record: this.#record,
      digest: bundleDigest(this.#bytes),
      signature: this.#signature,
      reader: readerOf(this.#parts, this.#found),
    };
  }

  async #addRecord(entry: Entry): Promise<void> {
    if (entry.header.name !== recordName)
      throw this.#refused(
        `it begins with ${quoted(entry.header.name)} instead of ${recordName}: it is not a bundle`,
      );
    this.#bytes = await this.#readBounded(entry, maxRecordBytes);
    const record = parseRecord(this.#bytes, `${recordName} of ${this.#parts.place}`);
    this.#record = record;
    this.#requireExpected(record);
    const marker = Buffer.from(markerText);
    this.#expected = new Map<string, ListedFile>([
      ['oci-layout', { digest: digestOf(marker), size: marker.length }],
      ['index.json', record.index],
      ...record.blobs.map((blob) => [blobPath(blob.digest), blob] as const),
    ]);
    // Detects a truncated bundle at once instead of after hours of reading.
    const least = record.blobs.reduce((sum, { size }) => sum + 512 + size, 0);
    if (least > this.#parts.size) throw truncated(this.#parts.place, this.#parts.truncation);
  }

  async #addSignature(entry: Entry): Promise<void> {
    const signature = await this.#readBounded(entry, maxSignatureBytes);
    this.#signature = 'unchecked';
    if (this.#keys === undefined) return;
    if (!isSigned(this.#bytes, signature, this.#keys))
      throw this.#refused(
        `its signature over ${recordName} was not made with this key: do not trust the bundle, or pass the right key`,
      );
    this.#signature = 'verified';
  }

  /** Names are unique, so an old bundle under a new name was put there by somebody. */
  #requireExpected({ name, created }: BundleRecord): void {
    const { name: wanted = name, digest = bundleDigest(this.#bytes), notBefore } = this.#wanted;
    if (name !== wanted)
      throw this.#refused(
        `it is the bundle ${quoted(name)} of ${created} under another name: bring ${quoted(wanted)} again from where it was exported`,
      );
    if (digest !== bundleDigest(this.#bytes))
      throw this.#refused(
        `its digest is ${bundleDigest(this.#bytes)} (created at ${created}), but ${digest} was requested: bring that bundle, or request this one`,
      );
    if (notBefore !== undefined && Date.parse(created) < notBefore.getTime())
      throw this.#refused(
        `the bundle ${quoted(name)} was created at ${created}, but one of ${notBefore.toISOString()} or later was requested`,
      );
  }

  #requireSignature(): void {
    if (this.#keys !== undefined && this.#signature !== 'verified')
      throw this.#refused('it is not signed, but a key was given: export it with a signing key');
  }

  async #addListedFile(entry: Entry): Promise<void> {
    const { name, size = 0 } = entry.header;
    const listed = this.#expected.get(name);
    if (listed === undefined) throw this.#refused(`its record does not list ${quoted(name)}`);
    if (this.#found.has(name)) throw this.#refused(`it has ${name} twice`);
    if (size !== listed.size)
      throw this.#refused(`${name} has ${size} bytes, but its record says ${listed.size}`);
    const hash = hashFor(listed.digest);
    this.#found.set(name, { ...listed, offset: entry.offset + headerBytes });
    for await (const chunk of entry as AsyncIterable<Buffer>) hash.update(chunk);
    if (`${listed.digest.split(':')[0]}:${hash.digest('hex')}` !== listed.digest)
      throw this.#refused(
        `the content of ${name} does not have the digest ${listed.digest}: it is damaged or was changed`,
      );
  }

  async #readBounded(entry: Entry, limit: number): Promise<Buffer> {
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

/** The layout inside the tar. Content is hashed again on reading, so later changes to the file are detected. */
function readerOf(parts: Parts, found: ReadonlyMap<string, FoundFile>): LayoutReader {
  return {
    place: parts.place,
    size: async (digest) => found.get(blobPath(digest))?.size,
    async open(digest, start) {
      const file = found.get(blobPath(digest));
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

/** The path of a blob in a layout. */
export function blobPath(digest: string): string {
  return `blobs/${digest.replace(':', '/')}`;
}

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 200));
}

function truncated(place: string, why: string): IncompleteBundle {
  return new IncompleteBundle(`Nothing was imported from ${place}: ${why}.`);
}

function refused(place: string, why: string, cause?: unknown): TransferError {
  return new TransferError('permanent', `Nothing was imported from ${place}: ${why}.`, {
    ...(cause !== undefined && { cause }),
  });
}
