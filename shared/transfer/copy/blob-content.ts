import path from 'node:path';
import type { BlobSource } from '../content/content.ts';
import type { RetryPolicy } from '../http/retry.ts';
import type { Descriptor } from '../oci/manifest.ts';
import { openBlobBuffer } from './blob-buffer.ts';
import { downloadBlob } from './download.ts';

export interface BlobReading {
  source: BlobSource;
  blob: Descriptor;
  /** The folder for large blobs until their digest is verified. */
  folder: string;
  retry: RetryPolicy;
}

/**
 * Reads the content of one blob as copyImage does: it resumes an interrupted download, and yields the last chunk only when the digest of
 * the whole is verified. Rejects with a TransferError.
 */
export async function* blobContent(reading: BlobReading, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const { source, blob, folder, retry } = reading;
  const buffer = await openBlobBuffer(path.join(folder, blob.digest.replace(':', '-')), blob.size);
  const ended = new AbortController();
  // The buffer passes a failure on to its reader.
  const download = downloadBlob({
    source,
    blob,
    buffer,
    retry,
    signal: AbortSignal.any([signal, ended.signal]),
  }).catch(() => undefined);
  try {
    yield* buffer.read();
  } finally {
    ended.abort();
    await download;
    await buffer.close();
  }
}
