import { mapBounded } from '#shared/base/async';
import { type CopyOptions, copyArtifact } from '../artifact/copy-artifact.ts';
import type { BlobSource, ContentSink, ContentSource } from '../content/content.ts';
import type { Descriptor } from '../content/manifest.ts';
import { planCopy } from '../content/plan.ts';
import { copyBlob } from '../copy/copy-blob.ts';
import type { Counts } from '../copy/copy-progress.ts';
import { inSession } from '../copy/in-session.ts';
import { type FailureReason, TransferError } from '../errors/transfer-error.ts';
import { type KnownReferrers, sourceIn } from '../layout/layout-source.ts';
import type { TransferContext } from '../oci/session.ts';
import { type ImageName, parseImageName } from '../reference/reference.ts';
import type { Bundle } from './read-bundle.ts';
import type { BundleItem, RequiredBlob } from './record.ts';

/** Where a bundle is imported to: each artifact under its own name. */
export interface BundleDestination {
  sink(name: ImageName, context: TransferContext): Promise<ContentSink>;
  /** Reads what an earlier bundle brought there. */
  source(name: ImageName, context: TransferContext): Promise<BlobSource>;
}

/** How the import of one artifact ended. */
export interface ImportedItem {
  name: string;
  digest: string;
  /** `stopped`: not begun, because the import was interrupted. */
  outcome: 'imported' | 'failed' | 'stopped';
  reason?: FailureReason;
  message?: string;
  /** A manifest or the tag of it was not there before. */
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

/** A blob that lies in another repository of the destination. */
interface Elsewhere {
  blob: Descriptor;
  at: ImageName;
}

const parallel = 8;
const shownMissing = 10;

/**
 * Sends each artifact of a verified bundle to the destination, blobs that it lacks first and the tag last; it is safe to repeat. Rejects with a TransferError,
 * before anything is sent, if the destination lacks what an earlier bundle should have brought. An artifact that fails does not hold up the others.
 */
export async function importBundle(
  bundle: Bundle,
  destination: BundleDestination,
  options: CopyOptions,
): Promise<Imported> {
  const known: KnownReferrers = new Map();
  const { elsewhere } = await inSession(options, async (context) => ({
    elsewhere: await lookAround(bundle, known, destination, context),
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
        await gather(elsewhere.get(item) ?? [], sink, destination, context);
        const watched: ContentSink = {
          ...sink,
          putManifest(...manifest) {
            written = true;
            return sink.putManifest(...manifest);
          },
        };
        const source = withEarlier(bundle, sourceIn(bundle.reader, { digest }, known), () =>
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

/** The name at the destination, which accepts this digest only. */
function landingOf({ name, digest }: BundleItem): ImageName {
  return { ...parseImageName(name), digest };
}

/** Reads all artifacts, and looks for what the bundle leaves out: in the repository where it is needed, else where an earlier bundle put it. */
async function lookAround(
  bundle: Bundle,
  known: KnownReferrers,
  destination: BundleDestination,
  context: TransferContext,
): Promise<Map<BundleItem, Elsewhere[]>> {
  const { record, reader, place } = bundle;
  const left = new Map(record.requires?.blobs.map((blob) => [blob.digest, blob] as const));
  const elsewhere = new Map<BundleItem, Elsewhere[]>();
  const missing = new Set<string>();
  for (const item of record.items) {
    const plan = await planCopy(sourceIn(reader, { digest: item.digest }, known), context.signal);
    const { mediaType, bytes } = plan.root;
    if (mediaType !== item.mediaType || bytes.length !== item.size)
      throw unusable(
        place,
        `${item.name} is not what its record says: its media type or size is another one`,
      );
    const sink = await destination.sink(landingOf(item), context);
    const found = await mapBounded(plan.blobs, parallel, context.signal, async (blob, signal) => {
      if ((await reader.size(blob.digest)) !== undefined) return undefined;
      const required = left.get(blob.digest);
      if (required === undefined)
        throw unusable(
          place,
          `it has no blob ${blob.digest} of ${item.name}, and names no bundle that brought it`,
        );
      if (await sink.hasBlob(blob, signal)) return undefined;
      const at = await placeOf(required, destination, context);
      if (at === undefined) missing.add(blob.digest);
      return at && { blob, at };
    });
    elsewhere.set(
      item,
      found.filter((each) => each !== undefined),
    );
  }
  if (missing.size === 0 || record.requires === undefined) return elsewhere;
  const shown = [...missing].slice(0, shownMissing).join(', ');
  const more = missing.size > shownMissing ? `, and ${missing.size - shownMissing} more` : '';
  const { bundle: earlier, created } = record.requires;
  throw unusable(
    place,
    `it was made after bundle ${earlier} of ${created} and leaves out what that one brought. The destination lacks ${missing.size} of its blobs: ${shown}${more}. Import that bundle first, to the same place, or export without --since`,
  );
}

/** The artifact, with blobs that an earlier bundle brought read at the destination, where they are by now: a policy reads some of them. */
function withEarlier(
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

/** The first of the places of an earlier bundle that has the blob. */
async function placeOf(
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

/** Mounts, or copies, what other repositories of the destination have. */
async function gather(
  blobs: readonly Elsewhere[],
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
