/** transfer-worker: the program that moves one artifact; `main.ts` runs it as a process. */
export { batchOf } from './batch/batch-of.ts';
export { bundleDestination } from './bundle/bundle-destination.ts';
export { expandContents, type Holding } from './bundle/expand-contents.ts';
export { isFileJob } from './ends/files.ts';
export { isFolderJob } from './ends/folders.ts';
export { policyPlace, withPolicy } from './job/policy.ts';
export { compareJob, moveJob, planFileJob, verifyFileJob } from './transfer-job.ts';
export { runWorker, type WorkerProcess } from './worker.ts';
