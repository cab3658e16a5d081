import { createInterface } from 'node:readline/promises';
import { styleText } from 'node:util';
import { printableLines } from '#shared/base/errors';
import { type Screen, screenOf } from './display.ts';
import { exitCodes } from './failure.ts';

export type Style = Parameters<typeof styleText>[0];

/** The terminal, or the pipe, that a command speaks to. */
export interface Io extends Screen {
  /** For results. */
  line(text?: string): void;
  /** For everything else: warnings, what to do next. */
  note(text: string): void;
  /** Colours where the output is a terminal and NO_COLOR is not set. */
  style(style: Style, text: string): string;
  /** A person can be asked. */
  isInteractive: boolean;
  /** Asks a person, and resolves with the line that is typed. Rejects when the signal is aborted. */
  ask(question: string): Promise<string>;
  env: NodeJS.ProcessEnv;
  /** Aborted by Ctrl-C and SIGTERM. */
  signal: AbortSignal;
}

/** The standard streams of this process. A reader that has gone ends the process without a word, as SIGPIPE would. */
export function processIo(): Io {
  const { stdout, stderr, env } = process;
  const interrupt = new AbortController();
  // Once: the second Ctrl-C ends a command that does not end by itself.
  process.once('SIGINT', () => interrupt.abort()).once('SIGTERM', () => interrupt.abort());
  for (const stream of [stdout, stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit(exitCodes.pipe);
    });
  return {
    ...screenOf(stdout),
    line: (text = '') => void stdout.write(`${text}\n`),
    // Names and messages of others are in it, and no colours of ours.
    note: (text) => void stderr.write(`${printableLines(text)}\n`),
    style: (style, text) => styleText(style, text, { stream: stdout }),
    // Asked late: Node opens the standard input when it is looked at.
    get isInteractive() {
      return process.stdin.isTTY === true && stderr.isTTY === true;
    },
    async ask(question) {
      const lines = createInterface({ input: process.stdin, output: stderr });
      // At Ctrl-C the terminal tells readline, and not the process.
      lines.once('SIGINT', () => interrupt.abort());
      try {
        return await lines.question(printableLines(question), { signal: interrupt.signal });
      } finally {
        lines.close();
      }
    },
    env,
    signal: interrupt.signal,
  };
}
