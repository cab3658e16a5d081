/** transfer-worker: the program that moves one artifact; `main.ts` runs it as a process. */
export { bundleDestination } from './bundle/bundle-destination.ts';
export { openSource } from './ends/ends.ts';
export { isFileJob } from './ends/files.ts';
export { policyPlace, withPolicy } from './policy.ts';
export { compareJob, planFileJob, transferJob, verifyFileJob } from './transfer-job.ts';
export { runWorker, type WorkerProcess } from './worker.ts';
