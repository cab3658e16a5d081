import path from 'node:path';
import { type RetryPolicy, withRetries } from '../http/retry.ts';
import type { Descriptor } from '../oci/manifest.ts';
import type { Repository } from '../oci/repository.ts';
import { openSpool, type Spool } from './blob-buffer.ts';
import { downloadBlob } from './download.ts';

/** How a blob came to be at the destination: it was there, it was linked within the registry, or its bytes were sent. */
export type BlobOutcome = 'existed' | 'mounted' | 'copied';

export interface BlobCopier {
  source: Repository;
  destination: Repository;
  /** A folder of this transfer's own. */
  folder: string;
  retry: RetryPolicy;
  /** Bytes of this blob that have been sent so far; never falls within one blob. */
  onSent: (blob: Descriptor, sent: number) => void;
}

/** Brings one blob to the destination by the cheapest way there is. Rejects with a TransferError. */
export async function copyBlob(
  copier: BlobCopier,
  blob: Descriptor,
  signal: AbortSignal,
): Promise<BlobOutcome> {
  const { source, destination } = copier;
  if (await destination.hasBlob(blob.digest, signal)) return 'existed';
  const sameRegistry = source.place.origin === destination.place.origin;
  if (sameRegistry && source.place.repository !== destination.place.repository) {
    if (await destination.mount(blob.digest, source.place.repository, signal)) return 'mounted';
  }
  await stream(copier, blob, signal);
  return 'copied';
}

async function stream(copier: BlobCopier, blob: Descriptor, signal: AbortSignal): Promise<void> {
  const { source, folder, retry } = copier;
  const spool = await openSpool(path.join(folder, blob.digest.replace(':', '-')), blob.size);
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  let downloadFailure: unknown;
  const download = downloadBlob({ source, blob, spool, retry, signal: either }).catch((caught: unknown) => {
    if (!over.signal.aborted) downloadFailure = caught;
  });
  try {
    await upload(copier, blob, spool, signal, () => downloadFailure);
  } finally {
    over.abort();
    await download;
    await spool.close();
  }
}

/** Sends the spool, again from its beginning after a failure; what the download failed with is the reason that counts. */
async function upload(
  copier: BlobCopier,
  blob: Descriptor,
  spool: Spool,
  signal: AbortSignal,
  downloadFailure: () => unknown,
): Promise<void> {
  const { destination, retry, onSent } = copier;
  let most = 0;
  async function* counted(): AsyncIterable<Uint8Array> {
    let sent = 0;
    for await (const chunk of spool.read()) {
      yield chunk;
      sent += chunk.length;
      if (sent <= most) continue;
      most = sent;
      onSent(blob, most);
    }
  }
  await withRetries({ policy: retry, signal }, async () => {
    try {
      await destination.upload(blob, counted, signal);
    } catch (caught) {
      throw downloadFailure() ?? caught;
    }
  });
}
