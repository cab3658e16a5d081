import type { Descriptor } from '../oci/manifest.ts';
import type { BlobOutcome } from './copy-blob.ts';

/** Numbers of blobs, or of their bytes, by how they came to be at the destination. */
export type Counts = Record<BlobOutcome, number>;

/** Called with bytes done and bytes in all; `done` never falls. */
export type Progress = (done: number, total: number) => void;

/** Counts what has been settled, and reports progress. */
export interface CopyProgress {
  readonly blobs: Counts;
  readonly bytes: Counts;
  sent(blob: Descriptor, bytes: number): void;
  settled(blob: Descriptor, outcome: BlobOutcome): void;
  manifests(bytes: number): void;
}

/** The progress towards `total` bytes of blobs and manifests. */
export function createCopyProgress(total: number, progress: Progress | undefined): CopyProgress {
  const zero = (): Counts => ({ copied: 0, existed: 0, mounted: 0 });
  const underWay = new Map<string, number>();
  const blobs = zero();
  const bytes = zero();
  let done = 0;
  progress?.(0, total);

  function advance(by: number): void {
    if (by <= 0) return;
    done = Math.min(total, done + by);
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
      bytes[outcome] += blob.size;
      const before = underWay.get(blob.digest) ?? 0;
      underWay.delete(blob.digest);
      advance(blob.size - before);
    },
    manifests: advance,
  };
}
