import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { mapBounded } from '#shared/async';
import { TransferError } from '../errors/transfer-error.ts';
import type { RetryPolicy } from '../http/retry.ts';
import type { Manifest } from '../oci/manifest.ts';
import type { Repository } from '../oci/repository.ts';
import { type ImageLocation, openSession, type SessionOptions } from '../oci/session.ts';
import { copyBlob } from './copy-blob.ts';
import { type CopyProgress, type Counts, createCopyProgress, type Progress } from './copy-progress.ts';
import { ensureReferrers } from './ensure-referrers.ts';
import { type CopyPlan, planCopy } from './plan.ts';

export interface CopyRequest extends SessionOptions {
  source: ImageLocation;
  destination: ImageLocation;
  signal: AbortSignal;
  /** Called with the bytes done, which never fall, and their total. */
  progress?: Progress;
  /** The folder for large blobs; the copy creates its own folder in it and removes it. */
  workDir: string;
  /** An image with more bytes than this is refused before any of its blobs is copied. */
  maxBytes?: number;
}

/** The result of a copy. `bytes` and `blobs` count each distinct blob once. */
export interface CopyResult {
  /** Digest and media type of the image, equal at both ends. */
  digest: string;
  mediaType: string;
  bytes: Counts;
  blobs: Counts;
  /** Number of signatures, SBOMs and attestations copied. */
  referrers: number;
  warnings: string[];
}

const parallel = 4;
const maxWarnings = 20;
const maxWarningLength = 300;

interface CopyContext {
  plan: CopyPlan;
  source: Repository;
  destination: Repository;
  retry: RetryPolicy;
  folder: string;
  copyProgress: CopyProgress;
  signal: AbortSignal;
}

/**
 * Copies one image by digest, with all platforms and referrers. It resolves the tag once, copies manifests unchanged and blobs before the
 * manifests that list them, and writes the tag last. It is safe to repeat. Rejects with a TransferError whose message contains no
 * credentials.
 */
export async function copyImage(request: CopyRequest): Promise<CopyResult> {
  const { signal, workDir } = request;
  const session = openSession(request);
  let folder: string | undefined;
  try {
    const source = session.open(request.source, 'pull');
    const destination = session.open(request.destination, 'pull,push');
    const from = source.address.digest ?? source.address.tag ?? 'latest';
    const plan = await planCopy(source, from, signal);
    const total =
      sum(plan.blobs.map(({ size }) => size)) + sum(plan.manifests.map(({ bytes }) => bytes.length));
    if (total > (request.maxBytes ?? Number.POSITIVE_INFINITY)) throw tooLarge(source, total);
    folder = await temporaryFolder(workDir);
    const copyProgress = createCopyProgress(total, request.progress);
    await copyContent({ plan, source, destination, retry: session.retry, folder, copyProgress, signal });
    const tag = destination.address.tag ?? (destination.address.digest === undefined ? 'latest' : undefined);
    checkDigest(destination, plan.root);
    if (tag !== undefined) await setTag(destination, tag, plan.root, signal);
    const { blobs, bytes } = copyProgress;
    const { root, referrers, tagged, warnings } = plan;
    const count = referrers.length + tagged.length;
    return {
      digest: root.digest,
      mediaType: root.mediaType,
      bytes,
      blobs,
      referrers: count,
      warnings: bounded(warnings, (warning) => session.masker.apply(warning)),
    };
  } catch (caught) {
    throw session.explain(caught, signal);
  } finally {
    session.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}

/**
 * The first warnings, each cut: an image can have thousands, and the result becomes part of a Workflow's status. Secrets are masked before
 * the cut, because half a secret would not be recognised.
 */
function bounded(warnings: readonly string[], mask: (warning: string) => string): string[] {
  const first = warnings.slice(0, maxWarnings).map((warning) => mask(warning).slice(0, maxWarningLength));
  const left = warnings.length - first.length;
  return left > 0 ? [...first, `and ${left} more`] : first;
}

function tooLarge({ address: { host, repository } }: Repository, bytes: number): TransferError {
  return new TransferError(
    'permanent',
    `The image of ${host}/${repository} takes ${bytes} bytes, more than this worker moves: raise ARC_MAX_BYTES, and the sizeLimit of the volume, in the workflow template.`,
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

async function temporaryFolder(workDir: string): Promise<string> {
  try {
    await mkdir(workDir, { recursive: true });
    return await mkdtemp(path.join(workDir, 'blobs-'));
  } catch (caught) {
    const detail = caught instanceof Error ? caught.message : String(caught);
    throw new TransferError(
      'retryable',
      `Cannot use the temporary folder: ${detail}; check the volume of ARC_WORK_DIR.`,
      {
        cause: caught,
        again: false,
      },
    );
  }
}

/** Copies blobs, then manifests in the order of the plan, then links the referrers: everything but the tag. */
async function copyContent(copying: CopyContext): Promise<void> {
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
  copyProgress.manifests(sum(plan.manifests.map(({ bytes }) => bytes.length)));
  await linkReferrers(copying, listed);
}

async function linkReferrers(
  { plan, destination, signal }: CopyContext,
  listed: ReadonlySet<string>,
): Promise<void> {
  const unlisted = plan.referrers.filter(({ manifest }) => !listed.has(manifest.digest));
  for (const [subject, group] of Map.groupBy(unlisted, (referrer) => referrer.subject)) {
    await ensureReferrers(
      destination,
      subject,
      group.map(({ manifest }) => manifest),
      signal,
    );
  }
  for (const { tag, manifest } of plan.tagged) await setTag(destination, tag, manifest, signal);
}

/** A destination with a digest accepts that digest only. */
function checkDigest({ address }: Repository, root: Manifest): void {
  if (address.digest === undefined || address.digest === root.digest) return;
  throw new TransferError(
    'config',
    `The destination requires ${address.digest}, but the source image is ${root.digest}: remove or correct the digest.`,
  );
}

async function setTag(
  destination: Repository,
  tag: string,
  manifest: Manifest,
  signal: AbortSignal,
): Promise<void> {
  if ((await destination.head(tag, signal)) === manifest.digest) return;
  await destination.putManifest(tag, manifest, signal);
  const found = await destination.head(tag, signal);
  if (found === manifest.digest) return;
  const { host, repository } = destination.address;
  const state = found === undefined ? 'does not exist' : `points to ${found}`;
  throw new TransferError(
    'retryable',
    `Tag ${tag} in ${host}/${repository} ${state} although ${manifest.digest} was just written to it: another client writes this tag, or the registry lost it.`,
  );
}
