import { mapBounded } from '#shared/base/async';
import type { ImageName } from '#shared/domain/address';
import { type CopyOptions, copyArtifact } from '../artifact/copy-artifact.ts';
import type { BlobSource, ContentSink, ContentSource } from '../content/content.ts';
import type { Descriptor } from '../content/manifest.ts';
import { planCopy } from '../content/plan.ts';
import { copyBlob } from '../copy/copy-blob.ts';
import type { Counts } from '../copy/copy-progress.ts';
import { inSession } from '../copy/in-session.ts';
import { type FailureReason, TransferError } from '../errors/transfer-error.ts';
import { type KnownReferrers, layoutReaderSource } from '../layout/layout-source.ts';
import type { TransferContext } from '../oci/session.ts';
import { parseImageName } from '../reference/address.ts';
import type { Bundle } from './read-bundle.ts';
import type { BundleItem, RequiredBlob } from './record.ts';

/** The destination of an import, with a repository for each artifact. */
export interface BundleDestination {
  sink(name: ImageName, context: TransferContext): Promise<ContentSink>;
  /** Opens a repository that an earlier bundle was imported to, for reading. */
  source(name: ImageName, context: TransferContext): Promise<BlobSource>;
}

/** The outcome of importing one artifact. */
export interface ImportedItem {
  name: string;
  digest: string;
  /** `stopped`: not started, because the import was interrupted. */
  outcome: 'imported' | 'failed' | 'stopped';
  reason?: FailureReason;
  message?: string;
  /** True if a manifest, a blob or the tag was new. */
  written?: boolean;
  blobs?: Counts;
  bytes?: Counts;
  referrers?: number;
}

export interface Imported {
  items: ImportedItem[];
  warnings: string[];
  /** The first failure. */
  failure: unknown;
}

/** A blob in another repository of the destination. */
interface OmittedBlob {
  blob: Descriptor;
  at: ImageName;
}

const parallel = 8;
const maxShownMissing = 10;

/**
 * Imports each artifact of a verified bundle into the destination: missing blobs first, the tag last. Idempotent. Rejects with a
 * TransferError, before anything is sent, if the destination lacks content of an earlier bundle. A failed artifact does not stop the others.
 */
export async function importBundle(
  bundle: Bundle,
  destination: BundleDestination,
  options: CopyOptions,
): Promise<Imported> {
  const known: KnownReferrers = new Map();
  const { elsewhere } = await inSession(options, async (context) => ({
    elsewhere: await locateOmittedBlobs(bundle, known, destination, context),
    warnings: [],
  }));
  const warnings: string[] = [];
  const items: ImportedItem[] = [];
  let failure: unknown;
  for (const item of bundle.record.items) {
    const { name, digest } = item;
    if (options.signal.aborted) {
      items.push({ name, digest, outcome: 'stopped' });
      continue;
    }
    try {
      let written = false;
      const copied = await copyArtifact(options, async (context) => {
        const sink = await destination.sink(landingOf(item), context);
        await fetchOmittedBlobs(elsewhere.get(item) ?? [], sink, destination, context);
        const watched: ContentSink = {
          ...sink,
          putManifest(...manifest) {
            written = true;
            return sink.putManifest(...manifest);
          },
        };
        const source = withOmittedBlobs(bundle, layoutReaderSource(bundle.reader, { digest }, known), () =>
          destination.source(landingOf(item), context),
        );
        return { source, destination: watched };
      });
      warnings.push(...copied.warnings);
      const { blobs, bytes, referrers } = copied;
      written ||= blobs.copied + blobs.mounted > 0;
      items.push({ name, digest, outcome: 'imported', written, blobs, bytes, referrers });
    } catch (caught) {
      failure ??= caught;
      const known = caught instanceof TransferError;
      const message = known ? caught.message : 'an unexpected failure';
      items.push({ name, digest, outcome: 'failed', ...(known && { reason: caught.reason }), message });
    }
  }
  return { items, warnings, failure };
}

/** The name at the destination, pinned to the recorded digest. */
function landingOf({ name, digest }: BundleItem): ImageName {
  return { ...parseImageName(name), digest };
}

/** Reads all artifacts and locates the blobs that the bundle omits: in the target repository, or where an earlier import put them. */
async function locateOmittedBlobs(
  bundle: Bundle,
  known: KnownReferrers,
  destination: BundleDestination,
  context: TransferContext,
): Promise<Map<BundleItem, OmittedBlob[]>> {
  const { record, reader, place } = bundle;
  const left = new Map(record.requires?.blobs.map((blob) => [blob.digest, blob] as const));
  const elsewhere = new Map<BundleItem, OmittedBlob[]>();
  const missing = new Set<string>();
  for (const item of record.items) {
    const plan = await planCopy(layoutReaderSource(reader, { digest: item.digest }, known), context.signal);
    const { mediaType, bytes } = plan.root;
    if (mediaType !== item.mediaType || bytes.length !== item.size)
      throw unusable(place, `${item.name} does not match its record: its media type or size differs`);
    const sink = await destination.sink(landingOf(item), context);
    const found = await mapBounded(plan.blobs, parallel, context.signal, async (blob, signal) => {
      if ((await reader.size(blob.digest)) !== undefined) return undefined;
      const required = left.get(blob.digest);
      if (required === undefined)
        throw unusable(
          place,
          `it lacks blob ${blob.digest} of ${item.name}, and refers to no earlier bundle with that blob`,
        );
      if (await sink.hasBlob(blob, signal)) return undefined;
      const at = await findRepository(required, destination, context);
      if (at === undefined) missing.add(blob.digest);
      return at && { blob, at };
    });
    elsewhere.set(
      item,
      found.filter((each) => each !== undefined),
    );
  }
  if (missing.size === 0 || record.requires === undefined) return elsewhere;
  const shown = [...missing].slice(0, maxShownMissing).join(', ');
  const more = missing.size > maxShownMissing ? `, and ${missing.size - maxShownMissing} more` : '';
  const { bundle: earlier, created } = record.requires;
  throw unusable(
    place,
    `it omits the blobs of bundle ${earlier} of ${created}, and the destination lacks ${missing.size} of them: ${shown}${more}. Import that bundle first, to the same destination, or export without --since`,
  );
}

/** Adds the blobs of the earlier bundle, which are read from the destination: a policy reads some of them. */
function withOmittedBlobs(
  { reader, record }: Bundle,
  source: ContentSource,
  openEarlier: () => Promise<BlobSource>,
): ContentSource {
  if (record.requires === undefined) return source;
  return {
    ...source,
    async openBlob(digest, offset, signal, reusesBuffers) {
      const isHere = (await reader.size(digest)) !== undefined;
      return (isHere ? source : await openEarlier()).openBlob(digest, offset, signal, reusesBuffers);
    },
  };
}

/** The first repository of an earlier import that has the blob. */
async function findRepository(
  { at, ...blob }: RequiredBlob,
  destination: BundleDestination,
  context: TransferContext,
): Promise<ImageName | undefined> {
  for (const text of at) {
    const name = parseImageName(text);
    const sink = await destination.sink(name, context);
    if (await sink.hasBlob(blob, context.signal)) return name;
  }
  return undefined;
}

/** Mounts or copies blobs from other repositories of the destination. */
async function fetchOmittedBlobs(
  blobs: readonly OmittedBlob[],
  sink: ContentSink,
  destination: BundleDestination,
  context: TransferContext,
): Promise<void> {
  const { session, folder, signal } = context;
  for (const { blob, at } of blobs) {
    const source = await destination.source(at, context);
    const copier = { source, destination: sink, folder, retry: session.retry, onSent: () => undefined };
    await copyBlob(copier, blob, signal);
  }
}

function unusable(place: string, why: string): TransferError {
  return new TransferError('permanent', `Nothing was imported from ${place}: ${why}.`);
}
