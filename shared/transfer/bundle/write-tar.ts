import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Pack, pack } from 'tar-stream';
import { TransferError, throwIfAborted } from '../errors/transfer-error.ts';
import { hashFor } from '../reference/digest.ts';
import { writeParts } from './parts.ts';

/** A file to add to a tar. */
export interface TarFile {
  name: string;
  size: number;
  /** Digest of the content, verified while it is written. */
  digest?: string;
  open(): Promise<Readable>;
}

export interface TarOptions {
  /** The tar; parts are `file.001` and so on. */
  file: string;
  /** Bytes per part; undefined for a single file. */
  partSize: number | undefined;
  onBytes: (bytes: number) => void;
  signal: AbortSignal;
}

/** Returns a tar file with content from memory. */
export function memoryFile(name: string, bytes: Buffer): TarFile {
  return { name, size: bytes.length, open: async () => Readable.from([bytes], { objectMode: false }) };
}

/**
 * Writes a reproducible tar of `files` in order: owner 0:0, mode 0644, zero times, no folders. Resolves with the names of the files written.
 * Rejects with a TransferError.
 */
export async function writeTar(files: Iterable<TarFile>, options: TarOptions): Promise<string[]> {
  const archive = pack();
  const adding = addAll(archive, files, options).catch((caught: unknown) => {
    // Destroyed with the error: a reader would take a normal end for the end of the tar.
    archive.destroy(caught instanceof Error ? caught : new Error(String(caught)));
    throw caught;
  });
  // Handled below, after the writer has ended.
  adding.catch(() => undefined);
  let names: string[] = [];
  let failed: unknown;
  try {
    names = await writeParts(
      archive as AsyncIterable<Buffer>,
      options.file,
      options.partSize,
      options.signal,
    );
  } catch (caught) {
    failed = caught;
    archive.destroy();
  }
  await adding.catch((caught: unknown) => {
    // A source that ended because its reader failed is not the cause.
    failed = failed === undefined || caught instanceof TransferError ? caught : failed;
  });
  if (failed === undefined) return names;
  throwIfAborted(options.signal);
  if (failed instanceof TransferError) throw failed;
  const why = failed instanceof Error ? failed.message : String(failed);
  throw new TransferError('retryable', `Cannot write ${options.file}: ${why}.`, {
    cause: failed,
    again: false,
  });
}

async function addAll(
  archive: Pack,
  files: Iterable<TarFile>,
  { onBytes, signal }: TarOptions,
): Promise<void> {
  for (const file of files) {
    const header = { name: file.name, size: file.size, mode: 0o644, uid: 0, gid: 0, mtime: new Date(0) };
    const entry = archive.entry({ ...header, type: 'file' });
    await pipeline(verifiedContent(file, onBytes), entry, { signal });
  }
  archive.finalize();
}

async function* verifiedContent({ name, size, digest, open }: TarFile, onBytes: (bytes: number) => void) {
  const hash = digest === undefined ? undefined : hashFor(digest);
  let bytes = 0;
  for await (const chunk of (await open()) as AsyncIterable<Buffer>) {
    hash?.update(chunk);
    bytes += chunk.length;
    onBytes(chunk.length);
    yield chunk;
  }
  const [algorithm] = (digest ?? '').split(':');
  if (bytes === size && (hash === undefined || `${algorithm}:${hash.digest('hex')}` === digest)) return;
  throw new TransferError(
    'permanent',
    `${name} was changed on disk after it was written: remove the .unfinished folder and export again.`,
  );
}
