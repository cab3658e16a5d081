import { exitCodes } from '#shared/transfer';

/** A finished run and the state of its process. */
export interface EndedRun {
  code: number;
  /** Number of runs of the process so far. */
  count: number;
  /** Memory of the process in bytes. */
  rss: number;
  /** True if the process was told to stop. */
  stopped: boolean;
}

const maxRuns = 200;
/** Twice the memory of a worker after many small artifacts. */
const maxRssBytes = 256 * 1024 ** 2;
const verdicts: readonly number[] = [0, ...Object.values(exitCodes)];

/** True if the process may take another run: a worker process is discarded after a cancelled run or a crash, and after a bounded count and memory. */
export function mayTakeAnother({ code, count, rss, stopped }: EndedRun): boolean {
  return verdicts.includes(code) && !stopped && count < maxRuns && rss < maxRssBytes;
}
