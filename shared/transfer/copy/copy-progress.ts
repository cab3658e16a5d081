import type { Descriptor } from '../content/manifest.ts';
import type { BlobOutcome } from './copy-blob.ts';

/** Numbers of blobs, or of their bytes, by how they came to be at the destination. */
export type Counts = Record<BlobOutcome, number>;

/**
 * Called with the bytes that were sent and those that are to be sent in all; `done` never falls, and `total` falls by what turns out to be at
 * the destination already. A total of 0: there is nothing to send.
 */
export type Progress = (done: number, total: number) => void;

/** Tells a person of a step, in a few words: `3 of 8 blobs`. */
export type TellStep = (step: string) => void;

/** Counts what has been settled, and reports progress. */
export interface CopyProgress {
  readonly blobs: Counts;
  readonly bytes: Counts;
  sent(blob: Descriptor, bytes: number): void;
  settled(blob: Descriptor, outcome: BlobOutcome): void;
  /** The bytes of manifests that were sent, and of those that were there. */
  manifests(sent: number, existed: number): void;
}

/** Steps of many small blobs are told at this interval at most, but for the last one. */
const stepIntervalMs = 500;

/** Returns what tells how many of `count` blobs are settled, whenever another one is. */
export function blobSteps(count: number, tell: TellStep | undefined): () => void {
  let settled = 0;
  let toldAt = Number.NEGATIVE_INFINITY;
  return () => {
    settled += 1;
    const now = performance.now();
    if (settled < count && now - toldAt < stepIntervalMs) return;
    toldAt = now;
    tell?.(`${settled} of ${count} blobs`);
  };
}

/** The progress towards `most` bytes of blobs and manifests: what exists already, or is mounted, is not sent and does not count. */
export function createCopyProgress(
  most: number,
  progress: Progress | undefined,
  onSettled: () => void = () => undefined,
): CopyProgress {
  const zero = (): Counts => ({ copied: 0, existed: 0, mounted: 0 });
  const underWay = new Map<string, number>();
  const blobs = zero();
  const bytes = zero();
  let done = 0;
  let total = most;
  progress?.(0, total);

  function advance(by: number): void {
    if (by <= 0) return;
    done = Math.min(total, done + by);
    progress?.(done, total);
  }

  function remove(existing: number): void {
    if (existing <= 0) return;
    total = Math.max(done, total - existing);
    progress?.(done, total);
  }

  return {
    blobs,
    bytes,
    sent(blob, sent) {
      const before = underWay.get(blob.digest) ?? 0;
      if (sent <= before) return;
      underWay.set(blob.digest, sent);
      advance(sent - before);
    },
    settled(blob, outcome) {
      blobs[outcome] += 1;
      onSettled();
      bytes[outcome] += blob.size;
      const before = underWay.get(blob.digest) ?? 0;
      underWay.delete(blob.digest);
      if (outcome === 'copied') return advance(blob.size - before);
      remove(blob.size - before);
    },
    manifests(sent, existed) {
      remove(existed);
      advance(sent);
    },
  };
}
