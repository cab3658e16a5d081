import { createSemaphore } from '#shared/base/async';
import type { Descriptor } from '../content/manifest.ts';
import { abortError } from '../errors/transfer-error.ts';

/**
 * Limits how many large blobs of a copy are in flight. A killed worker loses the progress of every blob in flight, so they are sent one at
 * a time: one stream saturates a worker and a nearby registry. A distant registry gets several, because it acknowledges each of them late.
 */
export interface LargeBlobLimiter {
  /** Runs `copy` when the blob gets a slot. Rejects as `copy` does, or with the signal's TransferError if aborted while waiting. */
  run<T>(blob: Descriptor, copy: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Records how many bytes of the blob were sent. A fully sent blob frees its slot: the registry stores it while the next one is sent. */
  sent(blob: Descriptor, bytes: number): void;
}

/** A registry that takes less than 128 MiB per second counts as distant. */
const nearBytesPerMs = (128 * 1024 * 1024) / 1000;

/** Starts with one slot; `most` slots as soon as one blob has taken long. */
export function createLargeBlobLimiter(most: number): LargeBlobLimiter {
  const slots = createSemaphore(1);
  const ends = new Map<string, () => void>();
  return {
    async run(blob, copy, signal) {
      const free = await slots.acquire(signal).catch(() => {
        throw abortError(signal);
      });
      const slow = setTimeout(() => {
        slots.limit = most;
      }, blob.size / nearBytesPerMs);
      const end = (): void => {
        clearTimeout(slow);
        if (ends.delete(blob.digest)) free();
      };
      ends.set(blob.digest, end);
      return copy().finally(end);
    },
    sent(blob, bytes) {
      if (bytes >= blob.size) ends.get(blob.digest)?.();
    },
  };
}
