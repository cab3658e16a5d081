import { Readable } from 'node:stream';
import type { ContentSource } from '../content/content.ts';
import { TransferError } from '../errors/transfer-error.ts';
import type { ChartImage } from './chart-manifest.ts';

/** Returns a chart in memory as a source of a copy. `place` names it in messages; `warnings` are passed to the result. */
export function chartSource(
  { manifest, blobs }: ChartImage,
  place: string,
  warnings: readonly string[],
): ContentSource {
  const byDigest = new Map(blobs.map(({ descriptor, bytes }) => [descriptor.digest, bytes]));
  return {
    place,
    root: async () => manifest,
    manifest: async (digest) => (digest === manifest.digest ? manifest : undefined),
    async openBlob(digest, offset) {
      const bytes = byDigest.get(digest);
      if (!bytes) throw new TransferError('permanent', `The ${place} has no blob ${digest}.`);
      return { start: offset, size: bytes.length, stream: Readable.from(chunksOf(bytes.subarray(offset))) };
    },
    async findReferrers(_, warn) {
      for (const warning of warnings) warn(warning);
      return [];
    },
  };
}

const chunkBytes = 256 * 1024;

function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}
