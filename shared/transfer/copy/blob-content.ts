import path from 'node:path';
import type { RetryPolicy } from '../http/retry.ts';
import type { Descriptor } from '../oci/manifest.ts';
import type { Repository } from '../oci/repository.ts';
import { openSpool } from './blob-buffer.ts';
import { downloadBlob } from './download.ts';

export interface BlobReading {
  source: Repository;
  blob: Descriptor;
  /** Where a large blob is held until its digest is known to be right. */
  folder: string;
  retry: RetryPolicy;
}

/**
 * The content of one blob, read as copyImage reads it: continued after a cut, and the last chunk given only when the digest
 * of the whole is right. Rejects with a TransferError.
 */
export async function* blobContent(reading: BlobReading, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const { source, blob, folder, retry } = reading;
  const spool = await openSpool(path.join(folder, blob.digest.replace(':', '-')), blob.size);
  const over = new AbortController();
  // A failure is handed on by the spool to who reads it.
  const download = downloadBlob({
    source,
    blob,
    spool,
    retry,
    signal: AbortSignal.any([signal, over.signal]),
  }).catch(() => undefined);
  try {
    yield* spool.read();
  } finally {
    over.abort();
    await download;
    await spool.close();
  }
}
