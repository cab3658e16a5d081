import { bytesText } from '#shared/errors';
import type { ContentSink, ContentSource } from '../content/content.ts';
import { TransferError } from '../errors/transfer-error.ts';
import type { Manifest } from '../oci/manifest.ts';
import { copyContent } from './copy-content.ts';
import { createCopyProgress } from './copy-progress.ts';
import { type CopyOptions, type CopyResult, inSession, type Opening } from './in-session.ts';
import { type CopyPlan, planCopy } from './plan.ts';

/** The two ends of a copy. */
export interface Ends {
  source: ContentSource;
  destination: ContentSink;
}

/**
 * Copies one artifact by digest, with all platforms and referrers. It resolves the tag once, copies manifests unchanged and blobs before
 * the manifests that list them, and writes the tag last. It is safe to repeat. Rejects with a TransferError whose message contains no
 * credentials.
 */
export function copyArtifact(
  options: CopyOptions,
  open: (opening: Opening) => Promise<Ends>,
): Promise<CopyResult> {
  return inSession(options, async (opening) => copyEnds(options, await open(opening), opening));
}

/** The same between opened ends, in a session that goes on. */
export async function copyEnds(
  options: CopyOptions,
  { source, destination }: Ends,
  { session, folder, signal }: Opening,
): Promise<CopyResult> {
  const { plan, before } = await readEnds(source, destination, signal);
  const total = bytesOf(plan);
  if (total > (options.maxBytes ?? Number.POSITIVE_INFINITY)) throw tooLarge(source, total);
  const copyProgress = createCopyProgress(total, options.progress);
  const { retry } = session;
  await copyContent({ plan, source, destination, before, retry, folder, copyProgress, signal });
  const { blobs, bytes } = copyProgress;
  const { root, referrers, tagged, warnings } = plan;
  const { digest, mediaType } = root;
  return { digest, mediaType, bytes, blobs, referrers: referrers.length + tagged.length, warnings };
}

/** Reads the whole source, and what the tag of the destination names. Rejects if the destination demands another digest. */
export async function readEnds(
  source: ContentSource,
  destination: ContentSink,
  signal: AbortSignal,
): Promise<{ plan: CopyPlan; before: string | undefined }> {
  // Asked while the source is read. If both fail, the failure of the source is reported.
  const looking = destination.tag === undefined ? undefined : destination.head(destination.tag, signal);
  looking?.catch(() => undefined);
  const plan = await planCopy(source, signal);
  checkDigest(destination, plan.root);
  return { plan, before: await looking };
}

/** The bytes of all blobs and manifests. */
export function bytesOf({ blobs, manifests }: CopyPlan): number {
  const sizes = [...blobs.map(({ size }) => size), ...manifests.map(({ bytes }) => bytes.length)];
  return sizes.reduce((total, each) => total + each, 0);
}

function tooLarge({ place }: ContentSource, bytes: number): TransferError {
  return new TransferError(
    'permanent',
    `The artifact of ${place} takes ${bytesText(bytes)}, more than this worker moves: raise ARC_MAX_BYTES, and the sizeLimit of the volume, in the workflow template.`,
  );
}

/** A destination with a digest accepts that digest only. */
function checkDigest({ digest }: ContentSink, root: Manifest): void {
  if (digest === undefined || digest === root.digest) return;
  throw new TransferError(
    'config',
    `The destination requires ${digest}, but the source has ${root.digest}: remove or correct the digest.`,
  );
}
