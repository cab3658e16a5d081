import type { Progress } from '#shared/transfer';

/** Of the whole: too few to be read as bytes. */
const steps = 100;

/**
 * One progress, in percent, for work of `count` phases, each of which counts for itself: it has a phase more behind it when their count begins
 * anew. How many bytes the later phases have is not known before them.
 */
export function phases(progress: Progress | undefined, count: number): Progress | undefined {
  if (progress === undefined) return undefined;
  let phase = 0;
  let before = 0;
  let most = 0;
  return (done, total) => {
    const part = total <= 0 ? 1 : Math.min(done / total, 1);
    if (part < before) phase = Math.min(phase + 1, count - 1);
    before = part;
    most = Math.max(most, Math.floor(((phase + part) / count) * steps));
    progress(most, steps);
  };
}
