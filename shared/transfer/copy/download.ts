import type { BlobSource } from '../content/content.ts';
import { stopped, TransferError } from '../errors/transfer-error.ts';
import { type RetryPolicy, withRetries } from '../http/retry.ts';
import type { Descriptor } from '../oci/manifest.ts';
import { hashFor } from '../reference/digest.ts';
import type { BlobBuffer } from './blob-buffer.ts';

export interface DownloadOptions {
  source: BlobSource;
  blob: Descriptor;
  buffer: BlobBuffer;
  retry: RetryPolicy;
  signal: AbortSignal;
}

/** The count of attempts starts again after this much progress: a registry that interrupts every few bytes still ends the transfer. */
const progressBytes = 1024 * 1024;

/**
 * Downloads one blob into the buffer and verifies its digest. An interrupted stream is resumed with Range (or, if the registry ignores
 * Range, by skipping the known bytes). Marks the buffer finished or failed, and rejects with the same TransferError.
 */
export async function downloadBlob(options: DownloadOptions): Promise<void> {
  const { source, blob, buffer, retry, signal } = options;
  const hash = hashFor(blob.digest);
  let offset = 0;
  let offsetBefore = 0;

  async function append(chunk: Uint8Array): Promise<void> {
    if (offset + chunk.length > blob.size)
      throw wrongContent(source, blob, `it is longer than the ${blob.size} bytes in its manifest`);
    hash.update(chunk);
    await buffer.write(chunk);
    offset += chunk.length;
  }

  async function attempt(): Promise<void> {
    offsetBefore = offset;
    const { start, size = blob.size, stream } = await source.openBlob(blob.digest, offset, signal);
    if (size !== blob.size) {
      stream.destroy();
      throw wrongContent(source, blob, `it has ${size} bytes, but ${blob.size} in its manifest`);
    }
    if (start > offset) {
      stream.destroy();
      throw interrupted(source, blob, offset, new Error(`the server resumed at byte ${start}`));
    }
    let skip = offset - start;
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        const fresh = chunk.subarray(Math.min(skip, chunk.length));
        skip -= chunk.length - fresh.length;
        if (fresh.length > 0) await append(fresh);
      }
    } catch (caught) {
      if (signal.aborted) throw stopped(signal);
      throw caught instanceof TransferError ? caught : interrupted(source, blob, offset, caught);
    }
    if (offset < blob.size) throw interrupted(source, blob, offset);
  }

  try {
    const progressed = (): boolean => offset - offsetBefore >= progressBytes;
    if (blob.size > 0) await withRetries({ policy: retry, signal, progressed }, attempt);
    const found = `${blob.digest.slice(0, blob.digest.indexOf(':'))}:${hash.digest('hex')}`;
    if (found !== blob.digest) throw wrongContent(source, blob, `its digest is ${found}`);
    buffer.finish();
  } catch (caught) {
    buffer.fail(caught);
    throw caught;
  }
}

function interrupted(source: BlobSource, blob: Descriptor, offset: number, cause?: unknown): TransferError {
  const why = cause instanceof Error ? ` (${cause.message})` : '';
  const text = `Blob ${blob.digest} of ${source.place} ended after ${offset} of ${blob.size} bytes${why}: check the server, its storage and the network.`;
  return new TransferError('retryable', text, { cause });
}

function wrongContent(source: BlobSource, blob: Descriptor, why: string): TransferError {
  const text = `Blob ${blob.digest} of ${source.place} has the wrong content: ${why}. It was not kept; push the artifact to the source again.`;
  return new TransferError('permanent', text);
}
