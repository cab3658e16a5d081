import type { BlobSink } from '../content/content.ts';
import { type RetryPolicy, withRetries } from '../http/retry.ts';
import type { Descriptor } from '../oci/manifest.ts';

/** Stores bytes as a blob, unless the repository has it already. Rejects with a TransferError. */
export async function putBlob(
  destination: BlobSink,
  blob: Descriptor,
  bytes: Uint8Array,
  retry: RetryPolicy,
  signal: AbortSignal,
): Promise<'existed' | 'copied'> {
  if (await destination.hasBlob(blob.digest, signal)) return 'existed';
  // A stream has a deadline for each chunk, not for the whole.
  async function* body(): AsyncIterable<Uint8Array> {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  }
  await withRetries({ policy: retry, signal }, () => destination.upload(blob, body, signal));
  return 'copied';
}

const chunkBytes = 256 * 1024;
