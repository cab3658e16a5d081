import { TransferError } from '../errors/transfer-error.ts';
import type { Manifest } from './manifest.ts';

/** Beyond any real artifact; manifests are held in memory. */
const maxManifests = 2000;
const maxTotalBytes = 64 * 1024 * 1024;

/** Bounds the manifests of one artifact. */
export interface ManifestBounds {
  /** Counts a manifest that is about to be read. Throws a TransferError if there are too many. */
  next(): void;
  /** Counts the bytes of a manifest. Throws a TransferError if there are too many in all. */
  add(manifest: Pick<Manifest, 'bytes'>): void;
}

/** Creates the bounds of one artifact; `place` is its source, for messages. */
export function createManifestBounds(place: string): ManifestBounds {
  let count = 0;
  let bytes = 0;
  return {
    next() {
      count += 1;
      if (count > maxManifests) throw artifactTooLarge(place, `it has more than ${maxManifests} manifests`);
    },
    add(manifest) {
      bytes += manifest.bytes.length;
      if (bytes > maxTotalBytes) throw artifactTooLarge(place, 'its manifests have more than 64 MiB');
    },
  };
}

export function artifactTooLarge(place: string, why: string): TransferError {
  return new TransferError('permanent', `The artifact of ${place} is not copied: ${why}.`);
}
