import { printable } from '#shared/base/errors';
import { parseProgress } from '#shared/domain';
import { cutTo, padTo, widthOf } from './width.ts';

/** The row of one artifact. */
export interface Row {
  name: string;
  phase: string;
  /** `n/m` bytes; undefined while unknown. */
  progress: string | undefined;
  message: string | undefined;
  /** Rate and remaining time, if known. */
  pace?: string | undefined;
}

export interface Display {
  /** `total`: the sum of all rows, always shown below them. */
  show(rows: readonly Row[], total?: Row): void;
}

/** The output of a display. */
export interface Screen {
  write(text: string): void;
  isTerminal: boolean;
  columns(): number;
  /** Lines of the terminal. */
  height(): number;
}

export function screenOf(stream: NodeJS.WriteStream): Screen {
  return {
    write: (text) => void stream.write(text),
    isTerminal: stream.isTTY === true,
    // A terminal without a size reports 0.
    columns: () => stream.columns || 100,
    height: () => stream.rows || 25,
  };
}

const barWidth = 30;

/** Creates a display: progress bars that are redrawn on a terminal, one line per change elsewhere. */
export function createDisplay(screen: Screen): Display {
  return screen.isTerminal ? bars(screen) : lines(screen);
}

function bars(screen: Screen): Display {
  let drawn = 0;
  return {
    show(rows, total) {
      const { shown, hidden } = rowsThatFit(rows, screen.height() - (total ? 3 : 2));
      const width = Math.max(12, ...shown.map(({ name }) => widthOf(printable(name))));
      const texts = shown.map((row) => formatBar(row, screen.columns(), width));
      if (hidden !== '') texts.push(cutTo(`  ${hidden}`, screen.columns() - 1));
      if (total) texts.push(formatBar(total, screen.columns(), width));
      // A single write avoids flicker; the escape codes overwrite the previous frame.
      const up = drawn > 0 ? `\u001b[${drawn}A` : '';
      screen.write(`${up}${texts.map((text) => `\u001b[2K${text}\n`).join('')}\u001b[J`);
      drawn = texts.length;
    },
  };
}

function lines(screen: Screen): Display {
  const last = new Map<string, string>();
  return {
    show(rows, total) {
      for (const row of total ? [...rows, total] : rows) {
        const text = `${printable(row.name)}: ${row.phase}${percentOf(row.progress)}${row.message ? `: ${printable(row.message)}` : ''}`;
        if (last.get(row.name) === text) continue;
        last.set(row.name, text);
        screen.write(`${text}\n`);
      }
    },
  };
}

/** Selects the rows that fit into `room` lines, in their order: running ones first, then failed ones, then the rest. */
export function rowsThatFit(rows: readonly Row[], room: number): { shown: readonly Row[]; hidden: string } {
  if (rows.length <= room) return { shown: rows, hidden: '' };
  const rank = ({ phase }: Row) => (phase === 'Running' ? 0 : phase === 'Succeeded' ? 2 : 1);
  const chosen = new Set(rows.toSorted((a, b) => rank(a) - rank(b)).slice(0, Math.max(0, room - 1)));
  const others = Map.groupBy(
    rows.filter((row) => !chosen.has(row)),
    ({ phase }) => phase,
  );
  const counts = [...others].map(([phase, some]) => `${some.length} ${phase}`).join(', ');
  return { shown: rows.filter((row) => chosen.has(row)), hidden: `and ${counts}` };
}

/** Formats one line: name, bar, percent, phase, and as much of the rest as fits. */
export function formatBar(row: Row, columns = 100, nameWidth = 12): string {
  const share = row.phase === 'Succeeded' ? 1 : shareOf(row.progress);
  const filled = Math.round(share * barWidth);
  const bar = '█'.repeat(filled) + '░'.repeat(barWidth - filled);
  const text = `  ${padTo(printable(row.name), nameWidth)} ${bar} ${String(Math.floor(share * 100)).padStart(3)}%  ${row.phase}`;
  const more = [row.pace, row.message && printable(row.message)].filter(
    (part) => part !== undefined && part !== '',
  );
  return cutTo([text, ...more].join('  '), columns - 1);
}

function percentOf(progress: string | undefined): string {
  return progress === undefined ? '' : ` ${Math.floor(shareOf(progress) * 100)}%`;
}

function shareOf(progress: string | undefined): number {
  const known = parseProgress(progress);
  return known ? known.done / known.total : 0;
}
