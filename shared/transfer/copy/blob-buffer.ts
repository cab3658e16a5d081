import { type FileHandle, open, rm } from 'node:fs/promises';
import { TransferError } from '../errors/transfer-error.ts';

/**
 * Holds one blob during its copy. The download writes it once; every attempt of the upload reads it, and the first attempt reads along with
 * the download. Readers get the last byte only after `finish`, so no upload completes with unverified content.
 */
export interface BlobBuffer {
  write(chunk: Uint8Array): Promise<void>;
  /** The content is complete and its digest correct. */
  finish(): void;
  /** The download failed: readers get this error. */
  fail(error: unknown): void;
  /** The content from its beginning; waits for the download. */
  read(): AsyncIterable<Uint8Array>;
  /** Frees file and memory. Readers that have not finished get an error. */
  close(): Promise<void>;
}

interface Storage {
  write(chunk: Uint8Array, position: number): Promise<void>;
  read(position: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

const readChunkBytes = 256 * 1024;
/** A blob of at most this size is held in memory: most configs and many layers need no disk. */
export const maxMemoryBytes = 1024 * 1024;
// EFBIG: a limit on the size of files; EDQUOT: a limit on the folder.
const fullCodes = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

function memoryStorage(size: number): Storage {
  const bytes = Buffer.allocUnsafe(size);
  return {
    write: async (chunk, position) => bytes.set(chunk, position),
    read: async (position, length) => bytes.subarray(position, position + length),
    close: async () => {},
  };
}

function fileStorage(file: FileHandle, path: string): Storage {
  return {
    async write(chunk, position) {
      for (let done = 0; done < chunk.length; ) {
        const { bytesWritten } = await file.write(chunk, done, chunk.length - done, position + done);
        done += bytesWritten;
      }
    },
    async read(position, length) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, position);
      return buffer.subarray(0, bytesRead);
    },
    async close() {
      await file.close();
      await rm(path, { force: true });
    },
  };
}

function explain(caught: unknown, path: string, size: number): unknown {
  const code = caught instanceof Error && 'code' in caught ? String(caught.code) : '';
  if (!fullCodes.has(code)) {
    const detail = caught instanceof Error ? caught.message : String(caught);
    return new TransferError('retryable', `Cannot use the temporary file for a blob: ${detail}.`, {
      cause: caught,
      again: false,
    });
  }
  const text = `The temporary folder is full (${code} at ${path}) while it holds a blob of ${size} bytes: enlarge the worker's temporary volume (ARC_WORK_DIR); it needs space for four of the largest layers.`;
  return new TransferError('retryable', text, { cause: caught, again: false });
}

/** A buffer for `size` bytes: in memory if small, else in the file `path`. Rejects with a TransferError. */
export async function openBlobBuffer(path: string, size: number): Promise<BlobBuffer> {
  let storage: Storage;
  try {
    storage = size <= maxMemoryBytes ? memoryStorage(size) : fileStorage(await open(path, 'w+', 0o600), path);
  } catch (caught) {
    throw explain(caught, path, size);
  }
  let written = 0;
  let finished = false;
  let failure: { error: unknown } | undefined;
  let change = Promise.withResolvers<void>();

  function changed(): void {
    change.resolve();
    change = Promise.withResolvers<void>();
  }

  function fail(error: unknown): void {
    failure ??= { error };
    changed();
  }

  return {
    async write(chunk) {
      try {
        await storage.write(chunk, written);
      } catch (caught) {
        throw explain(caught, path, size);
      }
      written += chunk.length;
      changed();
    },
    finish() {
      finished = true;
      changed();
    },
    fail,
    async *read() {
      for (let position = 0; position < size; ) {
        if (failure) throw failure.error;
        const ready = (finished ? written : Math.min(written, size - 1)) - position;
        if (ready <= 0) {
          await change.promise;
          continue;
        }
        const chunk = await storage.read(position, Math.min(ready, readChunkBytes));
        position += chunk.length;
        yield chunk;
      }
    },
    async close() {
      fail(new TransferError('retryable', 'The buffer of the blob is closed.', { again: false }));
      await storage.close();
    },
  };
}
