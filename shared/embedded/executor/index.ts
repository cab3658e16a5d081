/** Runs Workflows of one pod as child processes. */
export { type Executor, type ExecutorOptions, startExecutor } from './executor.ts';
export type { Programs } from './programs.ts';
