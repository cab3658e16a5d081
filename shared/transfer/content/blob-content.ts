import { bytesText } from '#shared/base/errors';
import { abortError, TransferError, throwIfAborted } from '../errors/transfer-error.ts';
import type { ByteStream } from '../http/body.ts';
import { countAttempts, type RetryPolicy } from '../http/retry.ts';
import { hashFor } from '../reference/digest.ts';
import type { BlobSource } from './content.ts';
import type { Descriptor } from './manifest.ts';

export interface BlobReading {
  source: BlobSource;
  blob: Descriptor;
  retry: RetryPolicy;
  /** True if the caller is done with each chunk before it requests the next, so that the source may reuse its buffers. */
  reusesBuffers?: boolean;
  /** False: the receiver verifies the digest. Default true. */
  hashed?: boolean;
}

/** The count of attempts restarts after this much progress, so that a server that interrupts every few bytes still fails the transfer. */
const progressBytes = 1024 * 1024;

/**
 * Streams one blob. The last chunk is yielded only after size and digest of the whole are verified. An interrupted stream is resumed with a
 * range request (or, if the server ignores Range, by skipping the known bytes). Throws a TransferError.
 */
export async function* blobContent(reading: BlobReading, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const { source, blob, retry, hashed = true } = reading;
  const hash = hashFor(blob.digest);
  let offset = 0;
  let begun = 0;
  const attempts = countAttempts({
    policy: retry,
    signal,
    progressed: () => offset - begun >= progressBytes,
  });

  function verify(): void {
    const found = `${blob.digest.slice(0, blob.digest.indexOf(':'))}:${hash.digest('hex')}`;
    if (found !== blob.digest) throw wrongContent(source, blob, `its digest is ${found}`);
  }

  function take(chunk: Uint8Array): void {
    if (offset + chunk.length > blob.size)
      throw wrongContent(source, blob, `it is longer than the ${blob.size} bytes in its manifest`);
    if (hashed) hash.update(chunk);
    offset += chunk.length;
    if (hashed && offset === blob.size) verify();
  }

  async function* attempt(): AsyncGenerator<Uint8Array> {
    const { skip, stream } = await openFrom(reading, offset, signal);
    let known = skip;
    for await (const chunk of stream) {
      const fresh = known === 0 ? chunk : chunk.subarray(Math.min(known, chunk.length));
      known -= chunk.length - fresh.length;
      if (fresh.length === 0) continue;
      take(fresh);
      yield fresh;
    }
    if (offset < blob.size) throw interrupted(source, blob, offset);
  }

  if (blob.size === 0) verify();
  while (offset < blob.size) {
    throwIfAborted(signal);
    begun = offset;
    try {
      yield* attempt();
    } catch (caught) {
      if (signal.aborted) throw abortError(signal);
      const known = caught instanceof TransferError;
      await attempts.failed(known ? caught : interrupted(source, blob, offset, caught));
    }
  }
}

/** Reads a whole blob into memory and verifies it. The caller checks `blob.size` first. Rejects with a TransferError. */
export async function readBlob(reading: BlobReading, signal: AbortSignal): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of blobContent(reading, signal)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Opens the blob at or before `offset`; `skip` is the number of bytes to discard. */
async function openFrom(
  { source, blob, reusesBuffers }: BlobReading,
  offset: number,
  signal: AbortSignal,
): Promise<{ skip: number; stream: ByteStream }> {
  const {
    start,
    size = blob.size,
    stream,
  } = await source.openBlob(blob.digest, offset, signal, reusesBuffers);
  if (size === blob.size && start <= offset) return { skip: offset - start, stream };
  stream.destroy();
  if (size !== blob.size)
    throw wrongContent(source, blob, `it has ${size} bytes, but its manifest says ${blob.size}`);
  throw interrupted(source, blob, offset, new Error(`the server resumed at byte ${start}`));
}

function interrupted(source: BlobSource, blob: Descriptor, offset: number, cause?: unknown): TransferError {
  const why = cause instanceof Error ? ` (${cause.message})` : '';
  const text = `Blob ${blob.digest} of ${source.place} ended after ${bytesText(offset)} of ${bytesText(blob.size)}${why}: check the server, its storage and the network.`;
  return new TransferError('retryable', text, { cause });
}

function wrongContent(source: BlobSource, blob: Descriptor, why: string): TransferError {
  const text = `Blob ${blob.digest} of ${source.place} has the wrong content: ${why}. It was discarded; push the artifact to the source again.`;
  return new TransferError('permanent', text);
}
