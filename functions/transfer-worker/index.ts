/** transfer-worker: the program that moves one artifact; `main.ts` runs it as a process. */
export { openSink, openSource } from './ends/ends.ts';
export { compareJob, policyPlace, transferJob } from './transfer-job.ts';
export { runWorker, type WorkerProcess } from './worker.ts';
