import { type Job, parsePolicy } from '#shared/domain';
import { ArcError } from '#shared/errors';
import {
  type Comparison,
  type CopyOptions,
  type CopyResult,
  compareArtifact,
  copyArtifact,
  TransferError,
} from '#shared/transfer';
import { openEnds } from './ends/ends.ts';
import { isFileJob, moveFile } from './ends/files.ts';

/** Does what a job says, whatever the types of its Endpoints. Rejects with a TransferError. */
export async function transferJob(job: Job, options: CopyOptions): Promise<CopyResult> {
  if (isFileJob(job)) return moveFile(withoutPolicy(job), options);
  return copyArtifact(withPolicy(job, options), (opening) => openEnds(job, opening));
}

/** What the job would move, without moving it. Rejects with a TransferError. */
export async function compareJob(job: Job, options: CopyOptions): Promise<Comparison> {
  if (isFileJob(job))
    throw new TransferError('config', 'A single file is not compared before it is moved: move it.');
  return compareArtifact(withPolicy(job, options), (opening) => openEnds(job, opening));
}

/** Where a policy stands. `arc-transfer` says another place instead. */
export const policyPlace = 'the parameter "policy" of the artifact\'s type';

/** The options with the policy of the job, if it has one. Throws a config TransferError for one that cannot be read: it would be passed over. */
export function withPolicy({ policy }: Job, options: CopyOptions): CopyOptions {
  if (policy === undefined) return options;
  try {
    return { ...options, policy: parsePolicy(policy) };
  } catch (caught) {
    const { message } = ArcError.from(caught);
    throw new TransferError(
      'config',
      `The policy cannot be read, so nothing is moved: ${message}. Correct ${policyPlace}.`,
    );
  }
}

/** Rules are for artifacts with manifests; a file that no rule is applied to is not moved. */
function withoutPolicy(job: Job): Job {
  if (job.policy === undefined) return job;
  throw new TransferError(
    'config',
    `A policy cannot be applied to a single file, so nothing is moved: remove ${policyPlace}, or move the file as an OCI artifact.`,
  );
}
