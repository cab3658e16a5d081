import { stopped, TransferError } from '../errors/transfer-error.ts';
import { type RetryPolicy, withRetries } from '../http/retry.ts';
import type { Descriptor } from '../oci/manifest.ts';
import type { Repository } from '../oci/repository.ts';
import { hashFor } from '../reference/digest.ts';
import type { Spool } from './blob-buffer.ts';

export interface DownloadOptions {
  source: Repository;
  blob: Descriptor;
  spool: Spool;
  retry: RetryPolicy;
  signal: AbortSignal;
}

/** A fresh count of tries needs this much progress: a registry that cuts every few bytes still ends the transfer. */
const worthwhile = 1024 * 1024;

/**
 * Reads one blob into the spool, hashing as it goes. A stream cut short is continued by Range (or, where the registry
 * ignores that, by skipping what is known). Marks the spool finished or failed, and rejects with the same TransferError.
 */
export async function downloadBlob(options: DownloadOptions): Promise<void> {
  const { source, blob, spool, retry, signal } = options;
  const hash = hashFor(blob.digest);
  let offset = 0;
  let offsetBefore = 0;

  async function take(chunk: Uint8Array): Promise<void> {
    if (offset + chunk.length > blob.size)
      throw wrongContent(source, blob, `it is longer than the ${blob.size} bytes its manifest says`);
    hash.update(chunk);
    await spool.write(chunk);
    offset += chunk.length;
  }

  async function attempt(): Promise<void> {
    offsetBefore = offset;
    const { start, size = blob.size, stream } = await source.openBlob(blob.digest, offset, signal);
    if (size !== blob.size) {
      stream.destroy();
      throw wrongContent(source, blob, `it has ${size} bytes, and its manifest says ${blob.size}`);
    }
    if (start > offset) {
      stream.destroy();
      throw cutShort(source, blob, offset, new Error(`the registry continued at byte ${start}`));
    }
    let skip = offset - start;
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        const fresh = chunk.subarray(Math.min(skip, chunk.length));
        skip -= chunk.length - fresh.length;
        if (fresh.length > 0) await take(fresh);
      }
    } catch (caught) {
      if (signal.aborted) throw stopped(signal);
      throw caught instanceof TransferError ? caught : cutShort(source, blob, offset, caught);
    }
    if (offset < blob.size) throw cutShort(source, blob, offset);
  }

  try {
    const progressed = (): boolean => offset - offsetBefore >= worthwhile;
    if (blob.size > 0) await withRetries({ policy: retry, signal, progressed }, attempt);
    const found = `${blob.digest.slice(0, blob.digest.indexOf(':'))}:${hash.digest('hex')}`;
    if (found !== blob.digest) throw wrongContent(source, blob, `its digest is ${found}`);
    spool.finish();
  } catch (caught) {
    spool.fail(caught);
    throw caught;
  }
}

function cutShort(source: Repository, blob: Descriptor, offset: number, cause?: unknown): TransferError {
  const why = cause instanceof Error ? ` (${cause.message})` : '';
  const text = `Registry ${source.place.host} cut blob ${blob.digest} of repository ${source.place.repository} short at ${offset} of ${blob.size} bytes${why}: check the registry, its storage and the network between.`;
  return new TransferError('retryable', text, { cause });
}

function wrongContent(source: Repository, blob: Descriptor, why: string): TransferError {
  const text = `Registry ${source.place.host} served wrong content for blob ${blob.digest} of repository ${source.place.repository}: ${why}. Nothing of it was kept; have the image pushed to the source anew.`;
  return new TransferError('permanent', text);
}
