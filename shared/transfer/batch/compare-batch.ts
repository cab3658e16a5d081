import { mapBounded } from '#shared/base/async';
import { type Comparison, compareEnds } from '../artifact/compare-artifact.ts';
import type { CopyOptions } from '../artifact/copy-artifact.ts';
import type { ContentSink } from '../content/content.ts';
import { inSession } from '../copy/in-session.ts';
import type { TransferContext } from '../oci/session.ts';
import { placeOf } from './blob-claims.ts';
import type { Batch } from './copy-batch.ts';

/** Compares the artifacts of a batch with their destinations. A blob of several artifacts counts once per repository. */
export interface BatchComparison extends Pick<Comparison, 'bytes' | 'missing' | 'warnings'> {
  items: number;
}

const parallel = 3;

/** Compares the artifacts returned by `expand` with their destinations. Writes nothing. Rejects with a TransferError. */
export function compareBatch(
  options: CopyOptions,
  expand: (context: TransferContext) => Promise<Batch>,
): Promise<BatchComparison> {
  return inSession(options, async (context) => {
    const { items, last, warnings } = await expand(context);
    const counted = new Set<string>();
    const found = await mapBounded(
      last ? [...items, last] : items,
      parallel,
      context.signal,
      async (item) => {
        const { source, destination } = await item.open(context);
        return compareEnds(options, { source, destination: countingSink(destination, counted) }, context);
      },
    );
    const sum = (of: (item: Comparison) => number) => found.reduce((total, each) => total + of(each), 0);
    return {
      items: found.length,
      bytes: sum(({ bytes }) => bytes),
      missing: {
        bytes: sum(({ missing }) => missing.bytes),
        blobs: sum(({ missing }) => missing.blobs),
        manifests: sum(({ missing }) => missing.manifests),
      },
      warnings: [...warnings, ...found.flatMap((each) => each.warnings)],
    };
  });
}

/** A sink that misses each blob once: the first artifact with the blob sends it for the others. */
function countingSink(sink: ContentSink, counted: Set<string>): ContentSink {
  return {
    ...sink,
    async hasBlob(blob, signal) {
      const key = `${placeOf(sink)} ${blob.digest}`;
      if (counted.has(key)) return true;
      counted.add(key);
      return sink.hasBlob(blob, signal);
    },
  };
}
