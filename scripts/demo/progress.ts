import { printable } from '#shared/errors';

/** What the display shows of one artifact. */
export interface Row {
  name: string;
  phase: string;
  /** `n/m` bytes, or nothing known yet. */
  progress: string | undefined;
  message: string | undefined;
}

export interface Display {
  show(rows: readonly Row[]): void;
}

const barWidth = 30;

/** Bars that redraw themselves on a terminal; one line per change where the output is a file or a pipe. */
export function createDisplay(output: NodeJS.WriteStream): Display {
  return output.isTTY ? bars(output) : lines(output);
}

function bars(output: NodeJS.WriteStream): Display {
  let drawn = 0;
  return {
    show(rows) {
      if (drawn > 0) output.write(`\u001b[${drawn}A`);
      for (const row of rows) output.write(`\u001b[2K${barOf(row, output.columns)}\n`);
      drawn = rows.length;
    },
  };
}

function lines(output: NodeJS.WriteStream): Display {
  const last = new Map<string, string>();
  return {
    show(rows) {
      for (const row of rows) {
        const text = `${row.name}: ${row.phase}${percentOf(row.progress)}${row.message ? `: ${printable(row.message)}` : ''}`;
        if (last.get(row.name) === text) continue;
        last.set(row.name, text);
        output.write(`${text}\n`);
      }
    },
  };
}

/** One line: name, bar, percent, phase, and as much of the message as the terminal is wide. */
export function barOf(row: Row, columns = 100): string {
  const share = row.phase === 'Succeeded' ? 1 : shareOf(row.progress);
  const filled = Math.round(share * barWidth);
  const bar = '█'.repeat(filled) + '░'.repeat(barWidth - filled);
  const text = `  ${row.name.padEnd(12)} ${bar} ${String(Math.floor(share * 100)).padStart(3)}%  ${row.phase}`;
  return row.message ? `${text}  ${printable(row.message)}`.slice(0, columns - 1) : text;
}

function percentOf(progress: string | undefined): string {
  return progress === undefined ? '' : ` ${Math.floor(shareOf(progress) * 100)}%`;
}

function shareOf(progress: string | undefined): number {
  const [done, all] = (progress ?? '').split('/').map(Number);
  return done !== undefined && all !== undefined && all > 0 ? Math.min(1, done / all) : 0;
}
