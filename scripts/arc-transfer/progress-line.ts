import { bytesText } from '#shared/base/errors';
import { countsBytes } from '#shared/domain';
import type { Progress } from '#shared/transfer';

/** A stream that may be a terminal. */
export interface Output {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

export interface ProgressLine {
  progress: Progress;
  /** Ends the line, so that the next output starts on its own. */
  end(): void;
}

const intervalMs = 100;
const barWidth = 30;
const stepOfLines = 10;

/** Draws a bar at most ten times a second on a terminal, otherwise prints a line per tenth of the bytes. `now` is in milliseconds. */
export function progressLine(output: Output, now: () => number): ProgressLine {
  let begun = now();
  let drawn = Number.NEGATIVE_INFINITY;
  let step = 0;
  let open = false;

  function text(done: number, total: number): string {
    const percent = `${String(Math.floor((100 * done) / total)).padStart(3)} %`;
    if (!countsBytes(total)) return percent;
    const seconds = Math.max(0.001, (now() - begun) / 1000);
    return `${percent}  ${bytesText(done)} of ${bytesText(total)}, ${bytesText(done / seconds)}/s`;
  }

  function draw(done: number, total: number): void {
    if (done < total && now() - drawn < intervalMs) return;
    drawn = now();
    open = true;
    const filled = Math.floor((barWidth * done) / total);
    const bar = `[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}] `;
    const room = (output.columns ?? 80) - 1;
    output.write(`\r\u001b[K${(bar + text(done, total)).slice(0, room)}`);
  }

  function line(done: number, total: number): void {
    const reached = Math.floor((100 * done) / total / stepOfLines);
    if (reached <= step) return;
    step = reached;
    output.write(`${text(done, total).trimStart()}\n`);
  }

  return {
    progress(done, total) {
      if (total <= 0) return;
      // A command may have several phases.
      if (done === 0) [begun, step] = [now(), 0];
      if (output.isTTY === true) draw(done, total);
      else line(done, total);
    },
    end() {
      if (open) output.write('\n');
      open = false;
    },
  };
}
