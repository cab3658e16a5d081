import path from 'node:path';
import type { BlobSink, BlobSource } from '../content/content.ts';
import { type RetryPolicy, withRetries } from '../http/retry.ts';
import type { Descriptor } from '../oci/manifest.ts';
import { type BlobBuffer, openBlobBuffer } from './blob-buffer.ts';
import { downloadBlob } from './download.ts';

/** How the destination got a blob: it had it already, it mounted it from another repository, or it received the bytes. */
export type BlobOutcome = 'existed' | 'mounted' | 'copied';

export interface BlobCopier {
  source: BlobSource;
  destination: BlobSink;
  /** A folder that only this transfer uses. */
  folder: string;
  retry: RetryPolicy;
  /** Called with the bytes of a blob sent so far, which never fall. */
  onSent: (blob: Descriptor, sent: number) => void;
}

/** Copies one blob to the destination in the cheapest way. Rejects with a TransferError. */
export async function copyBlob(
  copier: BlobCopier,
  blob: Descriptor,
  signal: AbortSignal,
): Promise<BlobOutcome> {
  const { source, destination } = copier;
  if (await destination.hasBlob(blob.digest, signal)) return 'existed';
  const from = mountable(source, destination);
  if (from !== undefined && (await destination.mount?.(blob.digest, from, signal))) return 'mounted';
  await transfer(copier, blob, signal);
  return 'copied';
}

/** The repository that the destination can mount blobs of the source from; undefined if they are not of one registry. */
function mountable({ registry: from }: BlobSource, { registry: to }: BlobSink): string | undefined {
  return from?.origin === to?.origin && from?.repository !== to?.repository ? from?.repository : undefined;
}

async function transfer(copier: BlobCopier, blob: Descriptor, signal: AbortSignal): Promise<void> {
  const { source, folder, retry } = copier;
  const buffer = await openBlobBuffer(path.join(folder, blob.digest.replace(':', '-')), blob.size);
  const ended = new AbortController();
  const either = AbortSignal.any([signal, ended.signal]);
  let downloadFailure: unknown;
  const download = downloadBlob({ source, blob, buffer, retry, signal: either }).catch((caught: unknown) => {
    if (!ended.signal.aborted) downloadFailure = caught;
  });
  try {
    await upload(copier, blob, buffer, signal, () => downloadFailure);
  } finally {
    ended.abort();
    await download;
    await buffer.close();
  }
}

/** Uploads the buffer, after a failure again from its beginning. If the download failed, it rejects with that failure. */
async function upload(
  copier: BlobCopier,
  blob: Descriptor,
  buffer: BlobBuffer,
  signal: AbortSignal,
  downloadFailure: () => unknown,
): Promise<void> {
  const { destination, retry, onSent } = copier;
  let maxSent = 0;
  async function* counted(): AsyncIterable<Uint8Array> {
    let sent = 0;
    for await (const chunk of buffer.read()) {
      yield chunk;
      sent += chunk.length;
      if (sent <= maxSent) continue;
      maxSent = sent;
      onSent(blob, maxSent);
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
