import { describe, expect, it } from 'vitest';
import { barOf, createDisplay } from './progress.ts';

const row = (phase: string, progress?: string, message?: string) => ({
  name: 'app',
  phase,
  progress,
  message,
});

describe('the progress display', () => {
  it('fills the bar by the share of bytes', () => {
    expect(barOf(row('Running', '50/100'))).toContain(`${'█'.repeat(15)}${'░'.repeat(15)}  50%  Running`);
  });

  it('shows an empty bar while nothing is known, a full one when it succeeded', () => {
    expect(barOf(row('Pending'))).toContain('  0%  Pending');
    expect(barOf(row('Running', '5/0'))).toContain('  0%');
    expect(barOf(row('Succeeded', '1/2'))).toContain('100%');
  });

  it('cuts a long message to the width of the terminal', () => {
    expect(barOf(row('Invalid', undefined, 'x'.repeat(500)), 80)).toHaveLength(79);
  });

  it('prints a line per change where the output is not a terminal', () => {
    const written: string[] = [];
    const output = { isTTY: false, write: (text: string) => written.push(text) };
    const display = createDisplay(output as unknown as NodeJS.WriteStream);
    display.show([row('Pending')]);
    display.show([row('Pending')]);
    display.show([row('Running', '1/4')]);
    display.show([row('Invalid', undefined, 'no such Endpoint')]);
    expect(written).toEqual(['app: Pending\n', 'app: Running 25%\n', 'app: Invalid: no such Endpoint\n']);
  });
});
