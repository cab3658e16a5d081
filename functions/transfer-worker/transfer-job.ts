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

/** Runs a job for one artifact or a batch. Rejects with a TransferError. */
export async function moveJob(job: Job, options: CopyOptions): Promise<CopyResult | BatchResult> {
  if (isFolderJob(job)) return moveFolder(withoutPolicy(job), options);
  const expand = isFileJob(job) ? undefined : batchOf(job);
  return expand === undefined ? transferJob(job, options) : copyBatch(withPolicy(job, options), expand);
}

/** Runs a job for a single artifact. Rejects with a TransferError. */
export async function transferJob(job: Job, options: CopyOptions): Promise<CopyResult> {
  if (isFileJob(job)) return moveFile(withoutPolicy(job), options);
  return copyArtifact(withPolicy(job, options), (context) => openEnds(job, context));
}

/** Compares source and destination of a job that moves no file. Rejects with a TransferError. */
export async function compareJob(job: Job, options: CopyOptions): Promise<Comparison> {
  return compareArtifact(withPolicy(job, options), (context) => openEnds(job, context));
}

/** Predicts what a job that moves a file would copy. Rejects with a TransferError. */
export function planFileJob(job: Job, options: CopyOptions): Promise<FileComparison> {
  return planFile(options, (context) => openFileEnds(withoutPolicy(job), context));
}

/** Compares the content of both ends of a job that moves a file. Rejects with a TransferError. */
export function verifyFileJob(job: Job, options: CopyOptions): Promise<FileComparison> {
  return verifyFile(options, (context) => openFileEnds(withoutPolicy(job), context));
}

/** Rejects policies and attestations for files: they need manifests, and a policy must not be skipped. */
function withoutPolicy(job: Job): Job {
  if (job.policy === undefined && job.attest !== true) return job;
  if (job.policy === undefined)
    throw new TransferError(
      'config',
      'The transfer of a single file cannot be attested: remove the parameter "attest" of its type, or move the file as an OCI artifact.',
    );
  throw new TransferError(
    'config',
    `A policy cannot be applied to a single file, so nothing is moved: remove ${policyPlace}, or move the file as an OCI artifact.`,
  );
}
