import { createHash } from 'node:crypto';
import type { FileIdentity, FileInfo, FileSink, FileSource, FileUpload } from '../content/file.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { drain, readFile, tooLarge, wrongDigest } from '../files/read-file.ts';
import type { RetryPolicy } from '../http/retry.ts';
import type { TransferContext } from '../oci/session.ts';
import type { Progress } from './copy-progress.ts';
import { type CopyResult, inSession, type RunOptions } from './in-session.ts';

/** A file to copy, with the digest and media type that the order requires. */
export interface NamedFile {
  source: FileSource;
  /** The required digest (`sha256:<hex>`); by default, the digest that the source reports. */
  expected?: string;
  /** Overrides the media type that the source reports. */
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
/** Media types that every destination accepts: a source may report anything. */
const usableType = /^[\w.+-]{1,100}\/[\w.+-]{1,100}(?:; ?[\w.+-]{1,40}=[\w.+"-]{1,100})?$/;

/**
 * Copies one file as a stream and hashes it on the way. A file is skipped if the destination has the expected digest, or wrote it from the
 * same version of the source. The result is that of an artifact with one blob. Rejects with a TransferError whose message contains no
 * credentials.
 */
export function copyFile(
  options: RunOptions,
  open: (context: TransferContext) => Promise<FileEnds>,
): Promise<CopyResult> {
  return inSession(options, async (context) => copyFileEnds(options, await open(context), context));
}

/** Copies between ends that are already open, within an existing session. */
export async function copyFileEnds(
  options: RunOptions,
  ends: FileEnds,
  context: TransferContext,
): Promise<CopyResult> {
  const copy = copyOf(options, ends, context);
  return copyEnds(copy, await inspect(copy));
}

/** Inspects both ends before a copy. `present` is the wanted file, if the destination has it. */
export function inspectEnds(
  options: RunOptions,
  ends: FileEnds,
  context: TransferContext,
): Promise<FileInspection> {
  return inspect(copyOf(options, ends, context));
}

function copyOf(
  { maxBytes = Number.MAX_SAFE_INTEGER, verify = false, progress }: RunOptions,
  ends: FileEnds,
  { session, signal }: TransferContext,
): FileCopy {
  return { ...ends, maxBytes, verify, retry: session.retry, signal, ...(progress && { progress }) };
}

/** What both ends report before anything is moved. */
interface FileInspection extends ExpectedFile {
  present: FileIdentity | undefined;
}

async function inspect(copy: FileCopy): Promise<FileInspection> {
  const { source, destination, verify, signal } = copy;
  const [info, stored] = await Promise.all([source.stat(signal), destination.head(signal, verify)]);
  const expected = expectedOf(copy, info);
  if ((info.size ?? 0) > copy.maxBytes) throw tooLarge(source, info.size, copy.maxBytes);
  const wanted = { info, expected, origin: versionOf(source, info) };
  return { ...wanted, present: stored && (await identityOf(copy, stored, wanted)) };
}

async function copyEnds(
  copy: FileCopy,
  { info, expected, origin, present }: FileInspection,
): Promise<CopyResult> {
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
    identity() {
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
    return result(upload.identity(), mediaType, 'mounted', []);
  const warnings = await destination.put(upload, signal);
  return result(upload.identity(), mediaType, 'copied', warnings);
}

/** The media type of the file: of the order, else of the source. */
export function mediaTypeOf({ mediaType }: NamedFile, { mediaType: told }: FileInfo): string {
  return mediaType ?? (told !== undefined && usableType.test(told) ? told : unknownType);
}

/** The expected digest. Throws if the order requires another digest than the source has computed. */
export function expectedOf(
  { source, expected }: NamedFile,
  { digest, proven }: FileInfo,
): string | undefined {
  if (expected !== undefined && digest !== undefined && proven === true && digest !== expected)
    throw wrongDigest(source, digest, expected);
  return expected ?? digest;
}

/** Identifies a version of a file, for `FileInfo.origin`; undefined if the server has no validator for it. */
export function versionOf({ url }: FileSource, { validator, size }: FileInfo): string | undefined {
  if (validator === undefined) return undefined;
  return createHash('sha256')
    .update(JSON.stringify([url, validator, size]))
    .digest('hex');
}

interface ExpectedFile {
  info: FileInfo;
  expected: string | undefined;
  origin: string | undefined;
}

/** The identity of the destination's file, if it is the wanted one. */
async function identityOf(
  { destination, retry, signal, maxBytes }: FileCopy,
  stored: FileInfo,
  { info, expected, origin }: ExpectedFile,
): Promise<FileIdentity | undefined> {
  const { size, digest } = stored;
  if (size === undefined || (info.size !== undefined && info.size !== size)) return undefined;
  if (digest !== undefined) {
    const isSame =
      expected === undefined ? origin !== undefined && stored.origin === origin : digest === expected;
    return isSame ? { size, digest } : undefined;
  }
  if (expected === undefined) return undefined;
  // The server stores no digest: reading the file back costs less than sending it again, and writes nothing.
  const reading = { source: destination.readBack, size, expected, maxBytes, retry };
  return drain(readFile(reading, signal)).catch((caught: unknown) => {
    if (caught instanceof TransferError && caught.reason === 'permanent') return undefined;
    throw caught;
  });
}

/** Copies server-side, if one storage has both ends. The content is read and verified first, unless the storage has computed the digest. */
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
