import { exitCodes } from '#shared/transfer';

/** A run that has ended, and the process that has done it. */
export interface EndedRun {
  code: number;
  /** Runs that the process has done. */
  count: number;
  /** Bytes of memory that the process has. */
  rss: number;
  /** It was told to stop. */
  stopped: boolean;
}

const mostRuns = 200;
/** Twice what a worker has after many small artifacts. */
const mostBytes = 256 * 1024 ** 2;
const verdicts: readonly number[] = [0, ...Object.values(exitCodes)];

/** Whether its process may take another one: after a run that came to a verdict of its own, and for a bounded time and memory. */
export function mayTakeAnother({ code, count, rss, stopped }: EndedRun): boolean {
  return verdicts.includes(code) && !stopped && count < mostRuns && rss < mostBytes;
}
