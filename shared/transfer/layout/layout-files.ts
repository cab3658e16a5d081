import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { bytesText } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import { TransferError } from '../errors/transfer-error.ts';
import { isDigest } from '../reference/digest.ts';

/** What the artifacts of an OCI image layout (image specification, image-layout.md) are read from: a folder, or a tar. */
export interface LayoutReader {
  /** For messages. */
  readonly place: string;
  /** Bytes of a blob; undefined if there is none. */
  size(digest: string): Promise<number | undefined>;
  /** The content of a blob from `start` on, and the size of all of it; undefined if there is none. The caller reads or destroys the stream. */
  open(digest: string, start: number): Promise<{ size: number; stream: Readable } | undefined>;
  /** A file of the layout that is not a blob, with at most `limit` bytes; undefined if there is none. */
  read(name: string, limit: number): Promise<Buffer | undefined>;
}

/** The files of one layout in a folder, and where each of them lies. Links are refused: they could lead out of the layout. */
export interface LayoutFiles extends LayoutReader {
  /** Of a blob, whether it exists or not. Throws for a digest that is none, which could name another file. */
  blob(digest: string): string;
  /** Writes a file under its name only when all of it is there. */
  write(file: string, content: Uint8Array | AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>;
  /** Makes the folder and its marker, if they are missing. Rejects if the folder holds something else. */
  prepare(): Promise<void>;
}

export const marker = 'oci-layout';
export const markerText = JSON.stringify({ imageLayoutVersion: '1.0.0' });

/** The files below `folder`. Operations reject with a TransferError. */
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
      // Not named after the process: in containers, one that was killed had the same id.
      const partial = `${file}.${randomUUID()}.partial`;
      try {
        await mkdir(path.dirname(file), { recursive: true });
        await writeFile(partial, content, { signal, flag: 'wx', flush: true });
        await rename(partial, file);
      } catch (caught) {
        // A path through a file cannot be removed either; the first failure says so.
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
          `${place} has an index.json and no file oci-layout: name another folder.`,
        );
      await this.write(path.join(folder, marker), Buffer.from(markerText), AbortSignal.timeout(60_000));
    },
  };
}

/** Throws unless the marker is one of version 1 of layouts. */
export function checkMarker(bytes: Buffer, place: string): void {
  let version: unknown;
  try {
    const parsed: unknown = JSON.parse(bytes.toString('utf8'));
    version = isRecord(parsed) ? parsed.imageLayoutVersion : undefined;
  } catch {
    // Not JSON: it has no version.
  }
  if (typeof version === 'string' && version.startsWith('1.')) return;
  const text = `${place} cannot be used: its file oci-layout names no imageLayoutVersion 1.x.`;
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
