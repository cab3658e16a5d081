import { type RetryPolicy, withRetries } from '../http/retry.ts';
import type { Descriptor } from '../oci/manifest.ts';
import type { Repository } from '../oci/repository.ts';

/** Stores bytes that are at hand as a blob, unless the repository has it already. Rejects with a TransferError. */
export async function putBlob(
  destination: Repository,
  blob: Descriptor,
  bytes: Uint8Array,
  retry: RetryPolicy,
  signal: AbortSignal,
): Promise<'existed' | 'copied'> {
  if (await destination.hasBlob(blob.digest, signal)) return 'existed';
  // As a stream, whose deadline is that nothing moves, not that all of it takes long.
  async function* body(): AsyncIterable<Uint8Array> {
    for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk);
  }
  await withRetries({ policy: retry, signal }, () => destination.upload(blob, body, signal));
  return 'copied';
}

const chunk = 256 * 1024;
