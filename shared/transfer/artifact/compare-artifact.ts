import { mapBounded } from '#shared/base/async';
import { bytesOf } from '../content/plan.ts';
import { attachmentState, tagOnlyAttachments } from '../copy/ensure-attachment.ts';
import { inSession } from '../copy/in-session.ts';
import type { TransferContext } from '../oci/session.ts';
import { sharedTagKind } from '../reference/digest.ts';
import { type CopyOptions, type Ends, readEnds } from './copy-artifact.ts';

/** Compares a source artifact with a destination. Each blob and manifest counts once. */
export interface Comparison {
  /** Digest and media type at the source. */
  digest: string;
  mediaType: string;
  /** Bytes of all blobs and manifests. */
  bytes: number;
  blobs: number;
  manifests: number;
  /** Signatures, SBOMs and attestations at the source. */
  referrers: number;
  missing: { bytes: number; blobs: number; manifests: number };
  /**
   * The tag of the destination and its current digest, if the tag exists; absent if the destination names no tag. For a tag that holds
   * attachments, the source digest is reported if the tag includes every attachment of the source.
   */
  tag?: { name: string; digest?: string };
  warnings: string[];
}

const parallel = 8;

/** Checks which manifests and blobs of the source the destination has. Writes nothing. Rejects with a TransferError. */
export function compareArtifact(
  options: CopyOptions,
  open: (context: TransferContext) => Promise<Ends>,
): Promise<Comparison> {
  return inSession(options, async (context) => compareEnds(options, await open(context), context));
}

/** Compares ends that are already open, within an existing session. */
export async function compareEnds(
  options: CopyOptions,
  ends: Ends,
  context: TransferContext,
): Promise<Comparison> {
  const { signal } = context;
  const { destination } = ends;
  const { plan, before } = await readEnds(options, ends, context);
  const alone = tagOnlyAttachments(plan);
  const listed = plan.manifests.filter(({ digest }) => !alone.has(digest));
  const attached = plan.tagged.filter(({ manifest }) => alone.has(manifest.digest));
  const manifests = [
    ...(await mapBounded(listed, parallel, signal, async ({ digest, bytes }, sub) =>
      (await destination.head(digest, sub)) === undefined ? bytes.length : undefined,
    )),
    // The tag may hold further attachments at the destination, such as a signature that was made there.
    ...(await mapBounded(attached, parallel, signal, async (attachment, sub) =>
      (await attachmentState(destination, attachment, sub)).action === 'keep'
        ? undefined
        : attachment.manifest.bytes.length,
    )),
  ];
  const blobs = await mapBounded(plan.blobs, parallel, signal, async (blob, sub) =>
    (await destination.hasBlob(blob, sub)) ? undefined : blob.size,
  );
  const lacks = {
    blobs: blobs.filter((size) => size !== undefined),
    manifests: manifests.filter((size) => size !== undefined),
  };
  const { tag } = destination;
  const isShared = tag !== undefined && before !== undefined && sharedTagKind(tag) !== undefined;
  const has = isShared && (await attachmentState(destination, { tag, manifest: plan.root }, signal));
  const under = has && has.action === 'keep' ? plan.root.digest : before;
  return {
    digest: plan.root.digest,
    mediaType: plan.root.mediaType,
    bytes: bytesOf(plan),
    blobs: plan.blobs.length,
    manifests: plan.manifests.length,
    referrers: plan.referrers.length + plan.tagged.length,
    missing: {
      bytes: [...lacks.blobs, ...lacks.manifests].reduce((sum, size) => sum + size, 0),
      blobs: lacks.blobs.length,
      manifests: lacks.manifests.length,
    },
    ...(tag !== undefined && { tag: { name: tag, ...(under !== undefined && { digest: under }) } }),
    warnings: plan.warnings,
  };
}
