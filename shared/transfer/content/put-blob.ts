import { inChunks } from '../http/body.ts';
import { type RetryPolicy, withRetries } from '../http/retry.ts';
import type { BlobSink } from './content.ts';
import type { Descriptor } from './manifest.ts';

/** Stores bytes as a blob, unless the destination has it already. Rejects with a TransferError. */
export async function putBlob(
  destination: BlobSink,
  blob: Descriptor,
  bytes: Uint8Array,
  retry: RetryPolicy,
  signal: AbortSignal,
): Promise<'existed' | 'copied'> {
  if (await destination.hasBlob(blob, signal)) return 'existed';
  await withRetries({ policy: retry, signal }, () => destination.upload(blob, inChunks(bytes), signal));
  return 'copied';
}
