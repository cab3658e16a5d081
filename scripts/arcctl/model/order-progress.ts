import type { Pace } from './pace.ts';

/** What of an artifact counts for the progress of its Order. */
export interface PartProgress {
  isDone: boolean;
  /** Bytes at the destination and of the whole; undefined where they are not known, or what is counted is no bytes. */
  bytes?: { done: number; total: number };
  /** 0 to 1 of an artifact that runs, whatever it counts. */
  share?: number;
  pace?: Pace | undefined;
}

export interface OrderProgress {
  /** 0 to 1. */
  share: number;
  /** Bytes that are at their destinations. */
  bytes: number;
  /** True where some sizes are not known yet, and are taken from the mean of the others. */
  isEstimate: boolean;
  bytesPerSecond?: number;
  secondsLeft?: number;
}

/**
 * Returns one progress of many artifacts. Bytes decide where at least one size is known: artifacts that have not started count as much as
 * the mean of the others. Without any size each artifact counts the same.
 */
export function orderProgress(parts: readonly PartProgress[]): OrderProgress {
  const known = parts.flatMap(({ bytes }) => (bytes ? [bytes] : []));
  const done = sum(known.map((each) => each.done));
  const unknown = parts.filter(({ bytes }) => !bytes);
  const rate = sum(parts.map(({ pace }) => pace?.bytesPerSecond ?? 0));
  const mean = known.length > 0 ? sum(known.map((each) => each.total)) / known.length : 0;
  const isEstimate = unknown.some(({ isDone }) => !isDone);
  const isCounted = mean === 0;
  const weight = isCounted ? 1 : mean;
  const total = (isCounted ? 0 : sum(known.map((each) => each.total))) + weight * unknown.length;
  const arrived =
    (isCounted ? 0 : done) + weight * sum(unknown.map(({ isDone, share = 0 }) => (isDone ? 1 : share)));
  const all = isCounted ? total + known.length : total;
  const share = all === 0 ? 0 : Math.min(1, (arrived + (isCounted ? known.length : 0)) / all);
  return {
    share,
    bytes: done,
    isEstimate,
    ...(rate > 0 && { bytesPerSecond: rate }),
    ...(rate > 0 && !isCounted && { secondsLeft: Math.max(0, total - arrived) / rate }),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
