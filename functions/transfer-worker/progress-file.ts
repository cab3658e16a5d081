import { renameSync, writeFileSync } from 'node:fs';
import type { Progress } from '#shared/transfer';

export interface ProgressFileOptions {
  file: string;
  /** Milliseconds of a monotonic clock. */
  now: () => number;
  /** Called once if the file cannot be written; the transfer goes on. */
  warn: (line: string) => void;
}

const intervalMs = 200;

/**
 * Writes `N/M` (bytes) to the file that Argo reads (ARGO_PROGRESS_FILE): the first and the last value, and others at most every 200 ms. N never
 * decreases, but M may. The file is replaced atomically, so a reader never sees a partial line.
 */
export function progressFile({ file, now, warn }: ProgressFileOptions): Progress {
  let written = { done: -1, total: 0 };
  let last = Number.NEGATIVE_INFINITY;
  let broken = false;
  return (done, total) => {
    const due = done >= total || now() - last >= intervalMs;
    const isNews = done > written.done || (done === written.done && total !== written.total);
    if (broken || !due || !isNews) return;
    try {
      // Nothing to send is complete, which Argo expects as 1/1.
      writeFileSync(`${file}.next`, total > 0 ? `${done}/${total}\n` : '1/1\n');
      renameSync(`${file}.next`, file);
    } catch (caught) {
      broken = true;
      warn(`cannot report the progress: ${caught instanceof Error ? caught.message : String(caught)}`);
    }
    written = { done, total };
    last = now();
  };
}
