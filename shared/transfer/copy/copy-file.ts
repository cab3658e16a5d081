import { createHash } from 'node:crypto';
import type { FileIdentity, FileInfo, FileSink, FileSource, FileUpload } from '../content/file.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { finished, readFile, tooLarge, wrongDigest } from '../files/read-file.ts';
import type { RetryPolicy } from '../http/retry.ts';
import type { Opening } from '../oci/session.ts';
import type { Progress } from './copy-progress.ts';
import { type CopyResult, inSession, type RunOptions } from './in-session.ts';

/** A file to copy, and what was ordered of it. */
export interface NamedFile {
  source: FileSource;
  /** `sha256:<hex>` that the file must have; the digest that the source claims is expected otherwise. */
  expected?: string;
  /** Instead of the one that the source tells. */
  mediaType?: string;
  /** The base name of the file. */
  name: string;
}

/** The two ends of a copy of one file. */
export interface FileEnds extends NamedFile {
  destination: FileSink;
}

interface FileCopy extends FileEnds {
  maxBytes: number;
  verify: boolean;
  retry: RetryPolicy;
  progress?: Progress;
  signal: AbortSignal;
}

const unknownType = 'application/octet-stream';
/** What every destination takes: a source may say anything. */
const usableType = /^[\w.+-]{1,100}\/[\w.+-]{1,100}(?:; ?[\w.+-]{1,40}=[\w.+"-]{1,100})?$/;

/**
 * Copies one file as a stream that is hashed on its way. What is there already is not moved: a file of the expected digest, or one that the
 * destination got from the same version of the source. Its result is the one of an artifact with one blob. Rejects with a TransferError
 * whose message contains no credentials.
 */
export function copyFile(
  options: RunOptions,
  open: (opening: Opening) => Promise<FileEnds>,
): Promise<CopyResult> {
  return inSession(options, async (opening) => copyFileEnds(options, await open(opening), opening));
}

/** The same between opened ends, in a session that goes on. */
export async function copyFileEnds(
  options: RunOptions,
  ends: FileEnds,
  opening: Opening,
): Promise<CopyResult> {
  const copy = copyOf(options, ends, opening);
  return copyEnds(copy, await look(copy));
}

/** What `copyFile` would do between these ends: `present` is the file, if the destination has it. */
export function lookAtEnds(options: RunOptions, ends: FileEnds, opening: Opening): Promise<FileLook> {
  return look(copyOf(options, ends, opening));
}

function copyOf(
  { maxBytes = Number.MAX_SAFE_INTEGER, verify = false, progress }: RunOptions,
  ends: FileEnds,
  { session, signal }: Opening,
): FileCopy {
  return { ...ends, maxBytes, verify, retry: session.retry, signal, ...(progress && { progress }) };
}

/** What both ends tell before anything is moved. */
interface FileLook extends Wanted {
  present: FileIdentity | undefined;
}

async function look(copy: FileCopy): Promise<FileLook> {
  const { source, destination, verify, signal } = copy;
  const [info, stored] = await Promise.all([source.stat(signal), destination.head(signal, verify)]);
  const expected = expectedOf(copy, info);
  if ((info.size ?? 0) > copy.maxBytes) throw tooLarge(source, info.size, copy.maxBytes);
  const wanted = { info, expected, origin: versionOf(source, info) };
  return { ...wanted, present: stored && (await identityOf(copy, stored, wanted)) };
}

async function copyEnds(copy: FileCopy, { info, expected, origin, present }: FileLook): Promise<CopyResult> {
  const { destination, signal } = copy;
  const mediaType = mediaTypeOf(copy, info);
  if (present !== undefined) {
    copy.progress?.(0, 0);
    return result(present, mediaType, 'existed', []);
  }
  let identity: FileIdentity | undefined;
  const upload: FileUpload = {
    size: info.size,
    digest: expected,
    mediaType,
    name: copy.name,
    origin,
    read() {
      if (identity === undefined) throw new Error('the content has not been read to its end');
      return identity;
    },
    async *content(sub) {
      identity = yield* readFile(
        { ...copy, size: info.size, expected, onRead: progressOf(copy.progress, info.size) },
        sub,
      );
    },
  };
  if (await copiedWithin(copy, info, upload, (proven) => (identity = proven)))
    return result(upload.read(), mediaType, 'mounted', []);
  const warnings = await destination.put(upload, signal);
  return result(upload.read(), mediaType, 'copied', warnings);
}

/** What the file is to be called: by the order, else by its source. */
export function mediaTypeOf({ mediaType }: NamedFile, { mediaType: told }: FileInfo): string {
  return mediaType ?? (told !== undefined && usableType.test(told) ? told : unknownType);
}

/** What the file must be. Throws for an order and a source that contradict each other where the source has proof. */
export function expectedOf(
  { source, expected }: NamedFile,
  { digest, proven }: FileInfo,
): string | undefined {
  if (expected !== undefined && digest !== undefined && proven === true && digest !== expected)
    throw wrongDigest(source, digest, expected);
  return expected ?? digest;
}

/** Names a version of a file, for `FileInfo.origin`; undefined where the server does not tell versions apart. */
export function versionOf({ url }: FileSource, { validator, size }: FileInfo): string | undefined {
  if (validator === undefined) return undefined;
  return createHash('sha256')
    .update(JSON.stringify([url, validator, size]))
    .digest('hex');
}

interface Wanted {
  info: FileInfo;
  expected: string | undefined;
  origin: string | undefined;
}

/** The identity of what is at the destination, if that is what is wanted. */
async function identityOf(
  { destination, retry, signal, maxBytes }: FileCopy,
  stored: FileInfo,
  { info, expected, origin }: Wanted,
): Promise<FileIdentity | undefined> {
  const { size, digest } = stored;
  if (size === undefined || (info.size !== undefined && info.size !== size)) return undefined;
  if (digest !== undefined) {
    const isSame =
      expected === undefined ? origin !== undefined && stored.origin === origin : digest === expected;
    return isSame ? { size, digest } : undefined;
  }
  if (expected === undefined) return undefined;
  // A server that keeps no digest: reading it back costs less than sending it again, and changes nothing.
  const reading = { source: destination.written, size, expected, maxBytes, retry };
  return finished(readFile(reading, signal)).catch((caught: unknown) => {
    if (caught instanceof TransferError && caught.reason === 'permanent') return undefined;
    throw caught;
  });
}

/** Copies within the storage that has both ends, if there is one. The content is read and verified first, unless the storage has proof. */
async function copiedWithin(
  { source, destination, signal }: FileCopy,
  { validator, size, digest, proven }: FileInfo,
  upload: FileUpload,
  prove: (identity: FileIdentity) => void,
): Promise<boolean> {
  const { within } = source;
  if (!destination.copyWithin || validator === undefined || within?.storage !== destination.storage)
    return false;
  if (within === undefined) return false;
  if (proven === true && size !== undefined && digest !== undefined) prove({ size, digest });
  else for await (const _ of upload.content(signal));
  return destination.copyWithin(within.path, validator, upload, signal);
}

function progressOf(progress: Progress | undefined, size: number | undefined): (bytes: number) => void {
  let most = 0;
  return (bytes) => {
    if (size === undefined || bytes <= most) return;
    most = bytes;
    progress?.(bytes, size);
  };
}

function result(
  { size, digest }: FileIdentity,
  mediaType: string,
  how: 'copied' | 'existed' | 'mounted',
  warnings: string[],
): CopyResult {
  const zero = { copied: 0, existed: 0, mounted: 0 };
  return {
    digest,
    mediaType,
    bytes: { ...zero, [how]: size },
    blobs: { ...zero, [how]: 1 },
    referrers: 0,
    warnings,
  };
}
