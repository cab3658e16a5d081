import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { quietIo } from '../testing/quiet-io.ts';
import { createDisplay } from './display.ts';
import { printValue } from './print.ts';

// The first byte of a command for a terminal, and what writes text from right to left.
const hostile = '\u009b31m\u202eabc';

it.each(['json', 'yaml'] as const)(
  '%s says what an object holds, and commands no terminal',
  async (format) => {
    const io = quietIo();
    const value = { [hostile]: `${hostile}\n${hostile}`, plain: 'a: b', lines: 'one\ntwo\n' };
    await printValue(io, format, value);
    const text = io.printed.join('');
    expect(text).not.toMatch(/[\u0080-\u009f\u202e]/);
    expect(parse(text)).toEqual(value);
    if (format === 'yaml') expect(text).toContain('lines: |\n  one\n  two\n');
  },
);

it('a display commands no terminal, nor where it is a list of lines', () => {
  for (const isTerminal of [true, false]) {
    const io = quietIo({ isTerminal });
    createDisplay(io).show([{ name: hostile, phase: 'Running', progress: undefined, message: hostile }]);
    expect(io.printed.join('')).not.toMatch(/[\u0080-\u009f\u202e]/);
  }
});
