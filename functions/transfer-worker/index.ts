/** transfer-worker: the program that moves one artifact; `main.ts` runs it as a process. */
export { openEnds } from './ends/ends.ts';
export { runWorker, type WorkerProcess } from './worker.ts';
