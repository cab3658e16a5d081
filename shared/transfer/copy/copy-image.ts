import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { mapBounded } from '#shared/async';
import { TransferError } from '../errors/transfer-error.ts';
import type { RetryPolicy } from '../http/retry.ts';
import type { Manifest } from '../oci/manifest.ts';
import type { Repository } from '../oci/repository.ts';
import { type ImageLocation, openSession, type SessionOptions } from '../oci/session.ts';
import { copyBlob } from './copy-blob.ts';
import { type Counts, createTally, type Progress, type Tally } from './copy-progress.ts';
import { keepReferrers } from './ensure-referrers.ts';
import { type CopyPlan, planCopy } from './plan.ts';

export interface CopyRequest extends SessionOptions {
  source: ImageLocation;
  destination: ImageLocation;
  signal: AbortSignal;
  /** Called with bytes done and in all; done never falls. */
  progress?: Progress;
  /** Where large blobs are held on their way; a folder of its own is made in it and removed. */
  workDir: string;
}

/** What a copy did. `bytes` and `blobs` count each distinct blob once. */
export interface CopyResult {
  /** Digest and media type of the image, equal at both ends. */
  digest: string;
  mediaType: string;
  bytes: Counts;
  blobs: Counts;
  /** Signatures, SBOMs and attestations that went along. */
  referrers: number;
  warnings: string[];
}

const width = 4;
const mostWarnings = 20;
const longestWarning = 300;

interface Copying {
  plan: CopyPlan;
  source: Repository;
  destination: Repository;
  retry: RetryPolicy;
  folder: string;
  tally: Tally;
  signal: AbortSignal;
}

/**
 * Copies one image, all platforms and everything that refers to it, by digest: tag resolved once, manifests verbatim,
 * blobs before the manifests that list them, the tag last. Safe to repeat. Rejects with a TransferError whose message
 * holds no credential.
 */
export async function copyImage(request: CopyRequest): Promise<CopyResult> {
  const { signal, workDir } = request;
  const session = openSession(request);
  let folder: string | undefined;
  try {
    const source = session.open(request.source, 'pull');
    const destination = session.open(request.destination, 'pull,push');
    const from = source.place.digest ?? source.place.tag ?? 'latest';
    const plan = await planCopy(source, from, signal);
    folder = await temporaryFolder(workDir);
    const total =
      sum(plan.blobs.map(({ size }) => size)) + sum(plan.manifests.map(({ bytes }) => bytes.length));
    const tally = createTally(total, request.progress);
    await carryOut({ plan, source, destination, retry: session.retry, folder, tally, signal });
    const tag = destination.place.tag ?? (destination.place.digest === undefined ? 'latest' : undefined);
    checkDigest(destination, plan.root);
    if (tag !== undefined) await moveTag(destination, tag, plan.root, signal);
    const { blobs, bytes } = tally;
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
    throw session.explained(caught, signal);
  } finally {
    session.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}

/**
 * The first warnings, each cut: an image can have thousands, and the result becomes part of a Workflow's status. Masked before they
 * are cut, since half a secret is not found any more.
 */
function bounded(warnings: readonly string[], mask: (warning: string) => string): string[] {
  const first = warnings.slice(0, mostWarnings).map((warning) => mask(warning).slice(0, longestWarning));
  const left = warnings.length - first.length;
  return left > 0 ? [...first, `and ${left} more`] : first;
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
      `The temporary folder cannot be used: ${detail}; check the volume of ARC_WORK_DIR.`,
      {
        cause: caught,
        again: false,
      },
    );
  }
}

/** Blobs, then manifests in the order of the plan, then what refers to them: everything but the tag. */
async function carryOut(copying: Copying): Promise<void> {
  const { plan, source, destination, retry, folder, tally, signal } = copying;
  const held = await mapBounded(
    plan.manifests,
    width,
    signal,
    async ({ digest }, sub) => (await destination.head(digest, sub)) !== undefined,
  );
  const absent = plan.manifests.filter((_, index) => held[index] !== true);
  const needed = new Set(absent.flatMap((manifest) => manifest.blobs.map(({ digest }) => digest)));
  const copier = { source, destination, folder, retry, onSent: tally.sent };
  // A registry that holds a manifest holds its blobs: it refuses manifests whose blobs it lacks.
  for (const blob of plan.blobs) if (!needed.has(blob.digest)) tally.settled(blob, 'existed');
  await mapBounded(
    plan.blobs.filter(({ digest }) => needed.has(digest)),
    width,
    signal,
    async (blob, sub) => tally.settled(blob, await copyBlob(copier, blob, sub)),
  );
  const listed = new Set<string>();
  for (const manifest of absent) {
    const { subjectSeen } = await destination.putManifest(manifest.digest, manifest, signal);
    if (subjectSeen) listed.add(manifest.digest);
  }
  tally.manifests(sum(plan.manifests.map(({ bytes }) => bytes.length)));
  await linkReferrers(copying, listed);
}

async function linkReferrers(
  { plan, destination, signal }: Copying,
  listed: ReadonlySet<string>,
): Promise<void> {
  const unlisted = plan.referrers.filter(({ manifest }) => !listed.has(manifest.digest));
  for (const [subject, group] of Map.groupBy(unlisted, (referrer) => referrer.subject)) {
    await keepReferrers(
      destination,
      subject,
      group.map(({ manifest }) => manifest),
      signal,
    );
  }
  for (const { tag, manifest } of plan.tagged) await moveTag(destination, tag, manifest, signal);
}

/** A destination that names a digest must get exactly that one. */
function checkDigest({ place }: Repository, root: Manifest): void {
  if (place.digest === undefined || place.digest === root.digest) return;
  throw new TransferError(
    'config',
    `The destination asks for ${place.digest}, but the source image is ${root.digest}: drop the digest or name the right one.`,
  );
}

async function moveTag(
  destination: Repository,
  tag: string,
  manifest: Manifest,
  signal: AbortSignal,
): Promise<void> {
  if ((await destination.head(tag, signal)) === manifest.digest) return;
  await destination.putManifest(tag, manifest, signal);
  const found = await destination.head(tag, signal);
  if (found === manifest.digest) return;
  const { host, repository } = destination.place;
  const state = found === undefined ? 'is not there' : `points to ${found}`;
  throw new TransferError(
    'retryable',
    `Tag ${tag} in ${host}/${repository} ${state} although ${manifest.digest} was just written to it: somebody else writes this tag, or the registry lost it.`,
  );
}
