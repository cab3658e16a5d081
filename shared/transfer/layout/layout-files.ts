import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { bytesText } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import { TransferError } from '../errors/transfer-error.ts';
import { isDigest } from '../reference/digest.ts';

/** Reads the files of an OCI image layout (image specification, image-layout.md) in a folder or a tar. */
export interface LayoutReader {
  /** For messages. */
  readonly place: string;
  /** The size of a blob in bytes; undefined if it does not exist. */
  size(digest: string): Promise<number | undefined>;
  /** Opens a blob at `start` and returns its total size; undefined if it does not exist. The caller must read or destroy the stream. */
  open(digest: string, start: number): Promise<{ size: number; stream: Readable } | undefined>;
  /** Reads a file other than a blob, of at most `limit` bytes; undefined if it does not exist. */
  read(name: string, limit: number): Promise<Buffer | undefined>;
}

/** The files of a layout in a folder. Symbolic links are refused, because they could leave the layout. */
export interface LayoutFiles extends LayoutReader {
  /** The path of a blob, whether it exists or not. Throws for an invalid digest, which could name another file. */
  blob(digest: string): string;
  /** Writes a file atomically. */
  write(file: string, content: Uint8Array | AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>;
  /** Creates the folder and its marker if they are missing. Rejects if the folder holds something else. */
  prepare(): Promise<void>;
}

export const marker = 'oci-layout';
export const markerText = JSON.stringify({ imageLayoutVersion: '1.0.0' });

/** Returns the files below `folder`. Operations reject with a TransferError. */
export function layoutFiles(folder: string): LayoutFiles {
  const place = `the OCI layout ${folder}`;

  function blob(digest: string): string {
    if (!isDigest(digest))
      throw new TransferError('permanent', `${place} has no blob "${digest.slice(0, 160)}".`);
    return path.join(folder, 'blobs', ...digest.split(':'));
  }

  async function openFile(file: string): Promise<FileHandle | undefined> {
    try {
      const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
      if ((await handle.stat()).isFile()) return handle;
      await handle.close();
    } catch (caught) {
      if (isMissing(caught)) return undefined;
      throw unreadable(file, caught);
    }
    throw unreadable(file, new Error('it is not a file'));
  }

  async function read(name: string, limit: number): Promise<Buffer | undefined> {
    const handle = await openFile(path.join(folder, name));
    if (handle === undefined) return undefined;
    try {
      const { size } = await handle.stat();
      if (size > limit)
        throw new TransferError(
          'permanent',
          `${name} of ${place} cannot be read: it is larger than ${bytesText(limit)}.`,
        );
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  }

  return {
    place,
    blob,
    read,
    async size(digest) {
      try {
        const found = await stat(blob(digest));
        return found.isFile() ? found.size : undefined;
      } catch (caught) {
        if (isMissing(caught)) return undefined;
        throw caught instanceof TransferError ? caught : unreadable(blob(digest), caught);
      }
    },
    async open(digest, start) {
      const handle = await openFile(blob(digest));
      if (handle === undefined) return undefined;
      const { size } = await handle.stat();
      const stream = handle.createReadStream({ start: Math.min(start, size), highWaterMark: 256 * 1024 });
      return { size, stream };
    },
    async write(file, content, signal) {
      // A process ID is not unique: in containers, a killed process had the same one.
      const partial = `${file}.${randomUUID()}.partial`;
      try {
        await mkdir(path.dirname(file), { recursive: true });
        await writeFile(partial, content, { signal, flag: 'wx', flush: true });
        await rename(partial, file);
      } catch (caught) {
        // If this fails too, the first failure is the one to report.
        await rm(partial, { force: true }).catch(() => undefined);
        throw caught instanceof TransferError ? caught : unwritable(file, caught);
      }
    },
    async prepare() {
      const found = await read(marker, 1024);
      if (found !== undefined) return checkMarker(found, place);
      if ((await read('index.json', Number.MAX_SAFE_INTEGER)) !== undefined)
        throw new TransferError(
          'config',
          `${place} has an index.json but no oci-layout file: use another folder.`,
        );
      await this.write(path.join(folder, marker), Buffer.from(markerText), AbortSignal.timeout(60_000));
    },
  };
}

/** Throws unless the marker names version 1 of layouts. */
export function checkMarker(bytes: Buffer, place: string): void {
  let version: unknown;
  try {
    const parsed: unknown = JSON.parse(bytes.toString('utf8'));
    version = isRecord(parsed) ? parsed.imageLayoutVersion : undefined;
  } catch {
    // Not JSON, so there is no version.
  }
  if (typeof version === 'string' && version.startsWith('1.')) return;
  const text = `${place} cannot be used: its oci-layout file has no imageLayoutVersion 1.x.`;
  throw new TransferError('permanent', text);
}

function isMissing(caught: unknown): boolean {
  const code = caught instanceof Error && 'code' in caught ? caught.code : undefined;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function unreadable(file: string, caught: unknown): TransferError {
  const why = caught instanceof Error ? caught.message : String(caught);
  return new TransferError('permanent', `Cannot read ${file}: ${why}.`, { cause: caught });
}

function unwritable(file: string, caught: unknown): TransferError {
  const why = caught instanceof Error ? caught.message : String(caught);
  return new TransferError('retryable', `Cannot write ${file}: ${why}.`, { cause: caught, again: false });
}
