import { mapBounded } from '#shared/base/async';
import type { Job } from '#shared/domain';
import { type BundleRecord, type Bundles, inSession } from '#shared/transfer';
import type { BundleOptions, BundlePlace } from './bundle-place.ts';
import { type Content, config } from './bundle-spec.ts';
import { expandContents } from './expand-contents.ts';

const parallel = 4;

/** An existing bundle, known by its record. */
export interface Written {
  record: BundleRecord;
  /** Lengths of the record and of its signature, in bytes. */
  recordLength: number;
  signatureLength: number;
}

/** True if all parts of a bundle exist with the sizes that follow from its record, and no others. */
export async function hasParts(
  place: BundlePlace,
  { record, recordLength, signatureLength }: Written,
  partSize: number,
  { bundleSize, partName }: Bundles,
): Promise<boolean> {
  const file = `${record.name}.tar`;
  const total = bundleSize(record, recordLength, signatureLength);
  let first: number | undefined;
  let number = 1;
  for (let sum = 0; sum < total; number += 1) {
    const found = await place.size(partName(file, number));
    // Without --part-size `arc-transfer` writes a single file.
    if (found === undefined) return number === 1 && (await place.size(file)) === total;
    const size = found === 'unknown' ? Math.min(first ?? partSize, total - sum) : found;
    first ??= size;
    sum += size;
    const isLast = sum === total && size <= first;
    if (!isLast && (size !== first || size === 0 || sum > total)) return false;
  }
  return (await place.size(partName(file, number))) === undefined;
}

/**
 * Rejects with a config TransferError if a name in the bundle has another digest at the source now, for example because a tag was moved. A
 * selection is fixed when the bundle is made: artifacts that match it now belong into another bundle.
 */
export async function mustBeCurrent(
  job: Job,
  contents: readonly Content[],
  { record }: Written,
  { progress: _, ...options }: BundleOptions,
  { recordedName }: Bundles,
): Promise<void> {
  const held = new Map(record.items.map((item) => [item.name, item.digest]));
  const { present } = await inSession(options, async (context) => {
    const { items } = await expandContents(job, contents, context, {
      maxBytes: options.maxBytes,
      mayBeEmpty: true,
    });
    const found = await mapBounded(items, parallel, context.signal, async ({ asked, open }, signal) => {
      const { source, name } = await open(context);
      return { asked, name: recordedName(asked, name), digest: (await source.root(signal)).digest };
    });
    return { present: found, warnings: [] };
  });
  const changed = present.find(({ name, digest }) => (held.get(name) ?? digest) !== digest);
  if (changed === undefined) return;
  throw config(
    `The bundle "${record.name}" already exists with ${changed.name} as ${held.get(changed.name)}, but its source has ${changed.digest} now (${changed.asked}). A bundle is immutable: choose another spec.name.`,
  );
}
