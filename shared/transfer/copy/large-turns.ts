import { createSemaphore } from '#shared/base/async';
import type { Descriptor } from '../content/manifest.ts';
import { stopped } from '../errors/transfer-error.ts';

/**
 * When the large blobs of a copy are sent. What a worker that is killed has sent of the blobs under way is sent again, so they go one after the
 * other: one stream keeps a worker and a near registry busy. A far one takes several, because it acknowledges each late.
 */
export interface LargeTurns {
  /** Runs `copy` in the blob's turn. Rejects as it does, and with the signal's TransferError if aborted before. */
  run<T>(blob: Descriptor, copy: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** So much of the blob has been sent. With all of it sent, its turn ends: the registry stores it while the next one is sent. */
  sent(blob: Descriptor, bytes: number): void;
}

/** Slower than 128 MiB a second is far. */
const nearBytesPerMs = (128 * 1024 * 1024) / 1000;

/** Turns of one blob at a time, and of `most` from when one has taken long. */
export function createLargeTurns(most: number): LargeTurns {
  const slots = createSemaphore(1);
  const ends = new Map<string, () => void>();
  return {
    async run(blob, copy, signal) {
      const free = await slots.acquire(signal).catch(() => {
        throw stopped(signal);
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
