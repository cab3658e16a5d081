import { renameSync, writeFileSync } from 'node:fs';
import type { Progress } from '#shared/transfer';

export interface ProgressFileOptions {
  file: string;
  /** Milliseconds, of a clock that never goes back. */
  now: () => number;
  /** Told once if the file cannot be written; a transfer does not fail for that. */
  warn: (line: string) => void;
}

const everyMs = 200;

/**
 * Writes `N/M` (bytes) to the file that Argo reads (ARGO_PROGRESS_FILE): the first and the last value always, others at
 * most every 200 ms, never a smaller N. Replaced as a whole, so that no reader finds half a line.
 */
export function progressFile({ file, now, warn }: ProgressFileOptions): Progress {
  let written = -1;
  let last = Number.NEGATIVE_INFINITY;
  let broken = false;
  return (done, total) => {
    const due = done >= total || now() - last >= everyMs;
    if (broken || !due || done <= written || total <= 0) return;
    try {
      writeFileSync(`${file}.next`, `${done}/${total}\n`);
      renameSync(`${file}.next`, file);
    } catch (caught) {
      broken = true;
      warn(`progress is not reported: ${caught instanceof Error ? caught.message : String(caught)}`);
    }
    written = done;
    last = now();
  };
}
