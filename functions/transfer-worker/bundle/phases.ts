import type { Progress } from '#shared/transfer';

/** Percent: small totals are not read as bytes. */
const steps = 100;

/**
 * Combines the progress of `count` consecutive phases into one, in percent. A phase ends when the next one starts counting from zero, because
 * the bytes of later phases are not known in advance.
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
