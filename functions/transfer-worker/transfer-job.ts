import type { Job } from '#shared/domain';
import {
  type BatchResult,
  type Comparison,
  type CopyOptions,
  type CopyResult,
  compareArtifact,
  copyArtifact,
  copyBatch,
  type FileComparison,
  planFile,
  TransferError,
  verifyFile,
} from '#shared/transfer';
import { batchOf } from './batch/batch-of.ts';
import { openEnds } from './ends/ends.ts';
import { isFileJob, moveFile, openFileEnds } from './ends/files.ts';
import { isFolderJob, moveFolder } from './ends/folders.ts';
import { policyPlace, withPolicy } from './job/policy.ts';

/** Moves what a job names: one artifact, or the several ones that it stands for. Rejects with a TransferError. */
export async function moveJob(job: Job, options: CopyOptions): Promise<CopyResult | BatchResult> {
  if (isFolderJob(job)) return moveFolder(withoutPolicy(job), options);
  const expand = isFileJob(job) ? undefined : batchOf(job);
  return expand === undefined ? transferJob(job, options) : copyBatch(withPolicy(job, options), expand);
}

/** Does what a job for one artifact says, whatever the types of its Endpoints. Rejects with a TransferError. */
export async function transferJob(job: Job, options: CopyOptions): Promise<CopyResult> {
  if (isFileJob(job)) return moveFile(withoutPolicy(job), options);
  return copyArtifact(withPolicy(job, options), (context) => openEnds(job, context));
}

/** What a job that moves no file would move, without moving it. Rejects with a TransferError. */
export async function compareJob(job: Job, options: CopyOptions): Promise<Comparison> {
  return compareArtifact(withPolicy(job, options), (context) => openEnds(job, context));
}

/** What a job that moves a file would move, without moving it. Rejects with a TransferError. */
export function planFileJob(job: Job, options: CopyOptions): Promise<FileComparison> {
  return planFile(options, (context) => openFileEnds(withoutPolicy(job), context));
}

/** Whether the destination of a job that moves a file has the content of its source. Rejects with a TransferError. */
export function verifyFileJob(job: Job, options: CopyOptions): Promise<FileComparison> {
  return verifyFile(options, (context) => openFileEnds(withoutPolicy(job), context));
}

/** Rules and attestations are for artifacts with manifests; a file that no rule is applied to is not moved. */
function withoutPolicy(job: Job): Job {
  if (job.policy === undefined && job.attest !== true) return job;
  if (job.policy === undefined)
    throw new TransferError(
      'config',
      'The transfer of a single file is not attested: remove the parameter "attest" of its type, or move the file as an OCI artifact.',
    );
  throw new TransferError(
    'config',
    `A policy cannot be applied to a single file, so nothing is moved: remove ${policyPlace}, or move the file as an OCI artifact.`,
  );
}
