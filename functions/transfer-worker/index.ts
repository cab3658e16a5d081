/** The program that moves one artifact; `main.ts` runs it as a process. */
export { runWorker, type WorkerSurroundings } from './worker.ts';
