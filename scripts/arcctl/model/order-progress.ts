/** Rate and remaining time. */
export interface Pace {
  bytesPerSecond: number;
  secondsLeft: number;
}

/** The progress of one artifact. */
export interface PartProgress {
  isDone: boolean;
  /** Bytes at the destination and in total; undefined if unknown, or if the progress is not in bytes. */
  bytes?: { done: number; total: number };
  /** 0 to 1 for a running artifact, in any unit. */
  share?: number;
  pace?: Pace | undefined;
}

export interface OrderProgress {
  /** 0 to 1. */
  share: number;
  /** Bytes at the destinations, copied or existing. */
  bytes: number;
  /** True if some sizes are unknown and are estimated with the mean of the others. */
  isEstimate: boolean;
  bytesPerSecond?: number;
  secondsLeft?: number;
}

/**
 * Returns the total progress of artifacts. If at least one size is known, the progress is weighted by bytes, and unknown sizes count as the
 * mean of the known ones. Otherwise each artifact counts the same.
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
