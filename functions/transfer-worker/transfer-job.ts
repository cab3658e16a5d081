import type { Job } from '#shared/domain';
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
export function transferJob(job: Job, options: CopyOptions): Promise<CopyResult> {
  if (isFileJob(job)) return moveFile(job, options);
  return copyArtifact(options, (opening) => openEnds(job, opening));
}

/** What the job would move, without moving it. Rejects with a TransferError. */
export async function compareJob(job: Job, options: CopyOptions): Promise<Comparison> {
  if (isFileJob(job))
    throw new TransferError('config', 'A single file is not compared before it is moved: move it.');
  return compareArtifact(options, (opening) => openEnds(job, opening));
}
