import { describe, expect, it } from 'vitest';
import { createDisplay, formatBar, rowsThatFit } from './display.ts';
import { widthOf } from './width.ts';

const row = (phase: string, progress?: string, message?: string) => ({
  name: 'app',
  phase,
  progress,
  message,
});

const screen = (written: string[], isTerminal: boolean) => ({
  write: (text: string) => void written.push(text),
  isTerminal,
  columns: () => 80,
  height: () => 25,
});

describe('the progress display', () => {
  it('fills the bar by the share of bytes', () => {
    expect(formatBar(row('Running', '50/100'))).toContain(`${'█'.repeat(15)}${'░'.repeat(15)}  50%  Running`);
  });

  it('shows an empty bar while nothing is known, a full one when it succeeded', () => {
    expect(formatBar(row('Pending'))).toContain('  0%  Pending');
    expect(formatBar(row('Running', '5/0'))).toContain('  0%');
    expect(formatBar(row('Succeeded', '1/2'))).toContain('100%');
  });

  it('cuts a long message to the width of the terminal', () => {
    expect(formatBar(row('Invalid', undefined, 'x'.repeat(500)), 80)).toHaveLength(79);
    const wide = formatBar({ ...row('Failed', undefined, '見つからない'.repeat(50)), name: '日本語' }, 80);
    expect(widthOf(wide)).toBeLessThan(80);
    expect(widthOf(wide.slice(0, wide.indexOf('░')))).toBe(15);
  });

  it('prints a line per change where the output is not a terminal', () => {
    const written: string[] = [];
    const display = createDisplay(screen(written, false));
    display.show([row('Pending')]);
    display.show([row('Pending')]);
    display.show([row('Running', '1/4')]);
    display.show([row('Invalid', undefined, 'no such Endpoint')]);
    expect(written).toEqual(['app: Pending\n', 'app: Running 25%\n', 'app: Invalid: no such Endpoint\n']);
  });

  it('redraws in place on a terminal, and leaves nothing of a longer picture', () => {
    const written: string[] = [];
    const display = createDisplay(screen(written, true));
    display.show([row('Pending'), { ...row('Pending'), name: 'other' }]);
    display.show([row('Running', '1/4')]);
    expect(written[0]).not.toContain('\u001b[1A');
    expect(written[1]?.startsWith('\u001b[2A\u001b[2K  app ')).toBe(true);
    expect(written[1]?.endsWith('\n\u001b[J')).toBe(true);
  });

  it('shows what moves where there are more artifacts than lines, and counts the others', () => {
    const rows = ['Succeeded', 'Succeeded', 'Running', 'Failed', 'Pending', 'Running'].map((phase) =>
      row(phase),
    );
    const { shown, hidden } = rowsThatFit(rows, 4);
    expect(shown.map(({ phase }) => phase)).toEqual(['Running', 'Failed', 'Running']);
    expect(hidden).toBe('and 2 Succeeded, 1 Pending');
    expect(rowsThatFit(rows, 6)).toEqual({ shown: rows, hidden: '' });
  });
});
