import path from 'node:path';
import { blobContent, readBlob } from '../content/blob-content.ts';
import type { BlobSink, BlobSource } from '../content/content.ts';
import type { Descriptor } from '../content/manifest.ts';
import { createSpool } from '../content/spool.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { type RetryPolicy, withRetries } from '../http/retry.ts';

/** How a blob got into the destination: it existed, was mounted from another repository, or its bytes were sent. */
export type BlobOutcome = 'existed' | 'mounted' | 'copied';

export interface BlobCopier {
  source: BlobSource;
  destination: BlobSink;
  /** A folder for this transfer alone. */
  folder: string;
  retry: RetryPolicy;
  /** True: a destination registry verifies streamed blobs alone, and has to report their digests. */
  unhashed?: boolean;
  /** Called with the number of bytes of a blob sent so far, which never decreases. */
  onSent: (blob: Descriptor, sent: number) => void;
}

/** Copies one blob by the cheapest means: skip, mount or upload. Rejects with a TransferError. */
export async function copyBlob(
  copier: BlobCopier,
  blob: Descriptor,
  signal: AbortSignal,
): Promise<BlobOutcome> {
  const { source, destination } = copier;
  if (await destination.hasBlob(blob, signal)) return 'existed';
  const from = mountable(source, destination);
  if (from !== undefined && (await destination.mount?.(blob.digest, from, signal))) return 'mounted';
  if (blob.size <= maxMemoryBytes) await fromMemory(copier, blob, signal);
  else await streamed(copier, blob, signal);
  return 'copied';
}

/** The source repository, if the destination can mount blobs from it: same registry, different repository. */
function mountable({ registry: from }: BlobSource, { registry: to }: BlobSink): string | undefined {
  return from?.origin === to?.origin && from?.repository !== to?.repository ? from?.repository : undefined;
}

/** Blobs up to this size are buffered in memory, so most configs and many layers are downloaded only once, even when an upload is retried. */
const maxMemoryBytes = 1024 * 1024;

/** Downloads while the upload session is being opened, and keeps the content for retries. */
async function fromMemory(copier: BlobCopier, blob: Descriptor, signal: AbortSignal): Promise<void> {
  const { source, destination, retry, onSent } = copier;
  const ended = new AbortController();
  const either = AbortSignal.any([signal, ended.signal]);
  const download = readBlob({ source, blob, retry }, either);
  // A failed download surfaces when the body is read, if the upload gets that far.
  download.catch(() => undefined);
  async function* body(): AsyncIterable<Uint8Array> {
    const content = await download;
    if (content.length > 0) yield content;
  }
  try {
    await withRetries({ policy: retry, signal }, () => destination.upload(blob, body, signal));
  } finally {
    ended.abort();
  }
  onSent(blob, blob.size);
}

/**
 * Streams the download into the upload, without buffering in memory or on disk. After a failed upload the blob is spooled to a file, so
 * that a failing destination costs at most two downloads, and an interrupted upload can be resumed.
 */
async function streamed(copier: BlobCopier, blob: Descriptor, signal: AbortSignal): Promise<void> {
  const { source, destination, folder, retry, onSent } = copier;
  // Folders verify nothing.
  const unhashed = copier.unhashed === true && destination.registry !== undefined;
  const spool = createSpool(path.join(folder, blob.digest.replace(':', '-')));
  const download = (until: AbortSignal): AsyncIterable<Uint8Array> =>
    blobContent({ source, blob, retry, reusesBuffers: true, hashed: !unhashed }, until);
  let begun = false;
  let maxSent = 0;
  async function* body(until: AbortSignal, offset = 0): AsyncIterable<Uint8Array> {
    begun = true;
    let sent = offset;
    for await (const chunk of spool.filled ? spool.read(offset) : download(until)) {
      yield chunk;
      sent += chunk.length;
      if (sent <= maxSent) continue;
      maxSent = sent;
      onSent(blob, maxSent);
    }
  }
  try {
    await withRetries({ policy: retry, signal }, async () => {
      if (begun && !spool.filled) await spool.fill(download(signal));
      const ended = new AbortController();
      const either = AbortSignal.any([signal, ended.signal]);
      try {
        const rest = (offset: number) => (spool.filled ? body(either, offset) : undefined);
        const isReported = await destination.upload(blob, () => body(either), signal, rest);
        if (unhashed && !isReported) throw unverified(destination, blob);
      } finally {
        ended.abort();
      }
    });
  } finally {
    await spool.close();
  }
}

function unverified({ place }: BlobSink, { digest }: Descriptor): TransferError {
  const text = `The ${place} does not report that blob ${digest}, as it has stored it, has this digest: leave ARC_BLOB_DIGESTS out, so that the worker verifies what it sends.`;
  return new TransferError('config', text);
}
