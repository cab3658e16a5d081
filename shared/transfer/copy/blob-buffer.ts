import { type FileHandle, open, rm } from 'node:fs/promises';
import { TransferError } from '../errors/transfer-error.ts';

/**
 * One blob on its way: written once by the download, read by every try of the upload, the first of which follows the
 * download closely. The last byte is held back until `finish`, so that no upload completes with unchecked content.
 */
export interface Spool {
  write(chunk: Uint8Array): Promise<void>;
  /** Everything is there and its digest is right. */
  finish(): void;
  /** The download failed: whoever reads gets this error. */
  fail(error: unknown): void;
  /** The content from its beginning; waits for what is not there yet. */
  read(): AsyncIterable<Uint8Array>;
  /** Frees file and memory. Readers still running are failed. */
  close(): Promise<void>;
}

interface Storage {
  write(chunk: Uint8Array, position: number): Promise<void>;
  read(position: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

const readSize = 256 * 1024;
/** Up to this size a blob is held in memory: most configs and many layers never touch the disk. */
export const inMemory = 1024 * 1024;
// EFBIG is how a limit on file sizes shows itself, EDQUOT one on the folder.
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
    return new TransferError('retryable', `The temporary file for a blob cannot be used: ${detail}.`, {
      cause: caught,
      again: false,
    });
  }
  const text = `The temporary folder is full (${code} at ${path}) while holding a blob of ${size} bytes: give the worker's temporary volume (ARC_WORK_DIR) more room; four of the largest layers must fit.`;
  return new TransferError('retryable', text, { cause: caught, again: false });
}

/** A spool for `size` bytes: in memory if small, else in the file `path`. Rejects with a TransferError. */
export async function openSpool(path: string, size: number): Promise<Spool> {
  let storage: Storage;
  try {
    storage = size <= inMemory ? memoryStorage(size) : fileStorage(await open(path, 'w+', 0o600), path);
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
        const chunk = await storage.read(position, Math.min(ready, readSize));
        position += chunk.length;
        yield chunk;
      }
    },
    async close() {
      fail(new TransferError('retryable', 'The blob is no longer held.', { again: false }));
      await storage.close();
    },
  };
}
