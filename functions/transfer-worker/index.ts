/** The program that moves one artifact; `main.ts` runs it as a process. */
export { parseJob } from './job-file.ts';
export { runWorker, type WorkerSurroundings } from './worker.ts';
