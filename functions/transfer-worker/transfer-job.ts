import type { Job } from '#shared/domain';
import {
  type Comparison,
  type CopyOptions,
  type CopyResult,
  compareArtifact,
  copyArtifact,
} from '#shared/transfer';
import { openEnds } from './ends/ends.ts';

/** Does what a job says, whatever the types of its Endpoints. Rejects with a TransferError. */
export function transferJob(job: Job, options: CopyOptions): Promise<CopyResult> {
  return copyArtifact(options, (opening) => openEnds(job, opening));
}

/** What the job would move, without moving it. Rejects with a TransferError. */
export function compareJob(job: Job, options: CopyOptions): Promise<Comparison> {
  return compareArtifact(options, (opening) => openEnds(job, opening));
}
