import { rm } from 'node:fs/promises';
import path from 'node:path';
import { isRecord } from '#shared/base/meta';
import type { Job } from '#shared/domain';
import {
  type CopyOptions,
  type CopyResult,
  copyArtifact,
  exitCodes,
  type FailureReason,
  layoutSink,
  layoutSource,
  placeName,
  policiesIn,
  splitLayout,
  TransferError,
} from '#shared/transfer';
import { batchOf } from './batch/batch-of.ts';
import { openSink, openSource } from './ends/ends.ts';
import { withPolicy } from './job/policy.ts';

/** Folders of a quarantine: the layout of the artifact, and a layout for each of its images. */
const whole = 'layout';
const images = 'images';

/**
 * Copies the artifact of a job into a quarantine, with a layout of each image for the scanner. Rules that need no scanner are checked first.
 * Rejects with a TransferError.
 */
export async function intoQuarantine(job: Job, folder: string, options: CopyOptions): Promise<CopyResult> {
  if (batchOf(job) !== undefined)
    throw new TransferError(
      'config',
      `Artifact type "${job.artifact.type}" supports only single images in quarantine: set spec.image without spec.tags.`,
    );
  const layout = path.join(folder, whole);
  // Leftovers of an earlier attempt.
  for (const each of [whole, images]) await rm(path.join(folder, each), { recursive: true, force: true });
  // Only the transfer to the destination is attested; an attestation of this copy would be copied along.
  const { policy = [], attest: _, ...judged } = withPolicy(job, options);
  const early = policiesIn(policy).map(({ policy: rules, ...named }) => {
    const { vulnerabilities: __, requiredSbom: ___, ...others } = rules;
    return { ...named, policy: others };
  });
  const result = await copyArtifact({ ...judged, policy: early }, async (context) => ({
    source: (await openSource(job, context)).source,
    destination: layoutSink({ folder: layout, tag: 'artifact' }),
  }));
  await splitLayout({ folder: layout, digest: result.digest }, path.join(folder, images), options.signal);
  return result;
}

/**
 * Copies the artifact from the quarantine to the destination of the job, if the policy allows it: the quarantined digest, whatever the source has
 * now. `fetched` is the outcome of `intoQuarantine`. Rejects with a TransferError.
 */
export async function outOfQuarantine(
  job: Job,
  folder: string,
  fetched: unknown,
  options: CopyOptions,
): Promise<CopyResult> {
  const digest = digestOfFetched(fetched);
  return copyArtifact(withPolicy(job, options), async (context) => {
    const { source, name } = await openSource(job, context);
    const address = placeName(source);
    return {
      source: {
        ...layoutSource({ folder: path.join(folder, whole), digest }),
        // Repository rules apply to the original source.
        ...(address !== undefined && { address }),
      },
      destination: await openSink(job, name, context),
    };
  });
}

/** The quarantined digest. Throws the failure of the copy into the quarantine. */
function digestOfFetched(fetched: unknown): string {
  const { outcome, digest, reason, message } = isRecord(fetched) ? fetched : {};
  if (outcome === 'succeeded' && typeof digest === 'string') return digest;
  if (outcome === 'failed' && isReason(reason) && typeof message === 'string')
    throw new TransferError(reason, message);
  throw new TransferError('retryable', 'The copy into the quarantine left no result: its step was killed.');
}

function isReason(value: unknown): value is FailureReason {
  return typeof value === 'string' && Object.hasOwn(exitCodes, value);
}
