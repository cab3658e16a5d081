import { mapBounded } from '#shared/async';
import type { ContentSink, ContentSource } from '../content/content.ts';
import { TransferError } from '../errors/transfer-error.ts';
import type { RetryPolicy } from '../http/retry.ts';
import type { Manifest } from '../oci/manifest.ts';
import { copyBlob } from './copy-blob.ts';
import type { CopyProgress } from './copy-progress.ts';
import type { CopyPlan } from './plan.ts';

const parallel = 4;

export interface CopyContext {
  plan: CopyPlan;
  source: ContentSource;
  destination: ContentSink;
  retry: RetryPolicy;
  folder: string;
  copyProgress: CopyProgress;
  signal: AbortSignal;
}

/** Copies blobs, then manifests in the order of the plan, then links the referrers; the tag is last. */
export async function copyContent(copying: CopyContext): Promise<void> {
  const { plan, source, destination, retry, folder, copyProgress, signal } = copying;
  const present = await mapBounded(
    plan.manifests,
    parallel,
    signal,
    async ({ digest }, sub) => (await destination.head(digest, sub)) !== undefined,
  );
  const absent = plan.manifests.filter((_, index) => present[index] !== true);
  const needed = new Set(absent.flatMap((manifest) => manifest.blobs.map(({ digest }) => digest)));
  const copier = { source, destination, folder, retry, onSent: copyProgress.sent };
  // A registry refuses a manifest whose blobs it lacks, so one that has the manifest has the blobs.
  for (const blob of plan.blobs) if (!needed.has(blob.digest)) copyProgress.settled(blob, 'existed');
  await mapBounded(
    plan.blobs.filter(({ digest }) => needed.has(digest)),
    parallel,
    signal,
    async (blob, sub) => copyProgress.settled(blob, await copyBlob(copier, blob, sub)),
  );
  const listed = new Set<string>();
  for (const manifest of absent) {
    const { subjectSeen } = await destination.putManifest(manifest.digest, manifest, signal);
    if (subjectSeen) listed.add(manifest.digest);
  }
  copyProgress.manifests(plan.manifests.reduce((sum, { bytes }) => sum + bytes.length, 0));
  await linkReferrers(copying, listed);
  if (destination.tag !== undefined) await setTag(destination, destination.tag, plan.root, signal);
}

async function linkReferrers(
  { plan, destination, signal }: CopyContext,
  listed: ReadonlySet<string>,
): Promise<void> {
  const unlisted = plan.referrers.filter(({ manifest }) => !listed.has(manifest.digest));
  for (const [subject, group] of Map.groupBy(unlisted, (referrer) => referrer.subject)) {
    const manifests = group.map(({ manifest }) => manifest);
    await destination.keepReferrers(subject, manifests, signal);
  }
  for (const { tag, manifest } of plan.tagged) await setTag(destination, tag, manifest, signal);
}

async function setTag(
  destination: ContentSink,
  tag: string,
  manifest: Manifest,
  signal: AbortSignal,
): Promise<void> {
  if ((await destination.head(tag, signal)) === manifest.digest) return;
  await destination.putManifest(tag, manifest, signal);
  const found = await destination.head(tag, signal);
  if (found === manifest.digest) return;
  const state = found === undefined ? 'does not exist' : `points to ${found}`;
  throw new TransferError(
    'retryable',
    `Tag ${tag} in ${destination.place} ${state} although ${manifest.digest} was just written to it: another client writes this tag, or the registry lost it.`,
  );
}
