import { TransferError } from '../errors/transfer-error.ts';
import type { Manifest } from './manifest.ts';

/** More than any artifact has; they are held in memory. */
const mostManifests = 2000;
const mostBytes = 64 * 1024 * 1024;

/** Counts the manifests that are read of one artifact. */
export interface ManifestBounds {
  /** One more is there to be read. Throws a TransferError if that is one too many. */
  next(): void;
  /** It has been read. Throws a TransferError if all of them take too much. */
  add(manifest: Pick<Manifest, 'bytes'>): void;
}

/** `place` is what the artifact lies in, for messages. */
export function createManifestBounds(place: string): ManifestBounds {
  let count = 0;
  let bytes = 0;
  return {
    next() {
      count += 1;
      if (count > mostManifests) throw tooMuch(place, `it has more than ${mostManifests} manifests`);
    },
    add(manifest) {
      bytes += manifest.bytes.length;
      if (bytes > mostBytes) throw tooMuch(place, 'its manifests take more than 64 MiB');
    },
  };
}

export function tooMuch(place: string, why: string): TransferError {
  return new TransferError('permanent', `The artifact of ${place} is not copied: ${why}.`);
}
