import type { Descriptor } from '../content/manifest.ts';
import type { BlobOutcome } from './copy-blob.ts';

/** Numbers of blobs, or of their bytes, by outcome. */
export type Counts = Record<BlobOutcome, number>;

/**
 * Called with the bytes sent so far and the total to send. `done` never decreases; `total` decreases by what the destination turns out to
 * have. A total of 0 means that there is nothing to send.
 */
export type Progress = (done: number, total: number) => void;

/** Reports a step to a person, in a few words: `3 of 8 blobs`. */
export type ReportStep = (step: string) => void;

/** Counts settled blobs and reports progress. */
export interface CopyProgress {
  readonly blobs: Counts;
  readonly bytes: Counts;
  sent(blob: Descriptor, bytes: number): void;
  settled(blob: Descriptor, outcome: BlobOutcome): void;
  /** The bytes of manifests that were sent, and of those that existed. */
  manifests(sent: number, existed: number): void;
}

/** Minimum interval between the steps of many small blobs; the last one is always reported. */
const stepIntervalMs = 500;

/** Returns a callback for settled blobs that reports how many of `count` are done. */
export function blobSteps(count: number, report: ReportStep | undefined): () => void {
  let settled = 0;
  let reportedAt = Number.NEGATIVE_INFINITY;
  return () => {
    settled += 1;
    const now = performance.now();
    if (settled < count && now - reportedAt < stepIntervalMs) return;
    reportedAt = now;
    report?.(`${settled} of ${count} blobs`);
  };
}

/** Creates the progress towards `most` bytes of blobs and manifests. Content that exists or is mounted leaves the total. */
export function createCopyProgress(
  most: number,
  progress: Progress | undefined,
  onSettled: () => void = () => undefined,
): CopyProgress {
  const zero = (): Counts => ({ copied: 0, existed: 0, mounted: 0 });
  const inFlight = new Map<string, number>();
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
      const before = inFlight.get(blob.digest) ?? 0;
      if (sent <= before) return;
      inFlight.set(blob.digest, sent);
      advance(sent - before);
    },
    settled(blob, outcome) {
      blobs[outcome] += 1;
      onSettled();
      bytes[outcome] += blob.size;
      const before = inFlight.get(blob.digest) ?? 0;
      inFlight.delete(blob.digest);
      if (outcome === 'copied') return advance(blob.size - before);
      remove(blob.size - before);
    },
    manifests(sent, existed) {
      remove(existed);
      advance(sent);
    },
  };
}
