import { createReadStream } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { bytesText } from '#shared/base/errors';
import { TransferError } from '../errors/transfer-error.ts';

/** Holds one blob in a file, for an upload that may be retried. */
export interface Spool {
  readonly filled: boolean;
  /** Writes the whole content. Rejects with the TransferError of the content or of the file. */
  fill(content: AsyncIterable<Uint8Array>): Promise<void>;
  /** Reads from `offset` (default 0). */
  read(offset?: number): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

const readChunkBytes = 256 * 1024;
// EFBIG: a limit on the file size; EDQUOT: a quota.
const fullCodes = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Creates a spool at `path`. The file exists from `fill` to `close`. */
export function createSpool(path: string): Spool {
  let filled = false;
  return {
    get filled() {
      return filled;
    },
    async fill(content) {
      let written = 0;
      async function* counted(): AsyncIterable<Uint8Array> {
        for await (const chunk of content) {
          yield chunk;
          written += chunk.length;
        }
      }
      try {
        await writeFile(path, counted(), { mode: 0o600 });
        filled = true;
      } catch (caught) {
        throw caught instanceof TransferError ? caught : explain(caught, path, written);
      }
    },
    read: (offset = 0) => createReadStream(path, { highWaterMark: readChunkBytes, start: offset }),
    async close() {
      filled = false;
      await rm(path, { force: true });
    },
  };
}

function explain(caught: unknown, path: string, written: number): TransferError {
  const code = caught instanceof Error && 'code' in caught ? String(caught.code) : '';
  if (!fullCodes.has(code)) {
    const detail = caught instanceof Error ? caught.message : String(caught);
    const text = `Cannot use the temporary file for a blob: ${detail}.`;
    return new TransferError('retryable', text, { cause: caught, again: false });
  }
  const text = `The temporary folder is full (${code} at ${path}) after ${bytesText(written)} of a blob: enlarge the worker's temporary volume (ARC_WORK_DIR).`;
  return new TransferError('retryable', text, { cause: caught, again: false });
}
