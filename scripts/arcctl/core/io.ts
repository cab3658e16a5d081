import { createInterface } from 'node:readline/promises';
import { styleText } from 'node:util';
import { printableLines } from '#shared/base/errors';
import { type Screen, screenOf } from './display.ts';
import { exitCodes } from './failure.ts';

export type Style = Parameters<typeof styleText>[0];

/** The input and output of a command. */
export interface Io extends Screen {
  /** Prints a result line to stdout. */
  line(text?: string): void;
  /** Prints other messages to stderr: warnings, next steps. */
  note(text: string): void;
  /** Applies colours if the output is a terminal and NO_COLOR is not set. */
  style(style: Style, text: string): string;
  /** True if a person can answer prompts. */
  isInteractive: boolean;
  /** Prompts, and resolves with the typed line. Rejects when the signal is aborted. */
  ask(question: string): Promise<string>;
  env: NodeJS.ProcessEnv;
  /** Aborted by Ctrl-C and SIGTERM. */
  signal: AbortSignal;
}

/** Returns the standard streams of this process. A closed stdout ends the process silently, like SIGPIPE. */
export function processIo(): Io {
  const { stdout, stderr, env } = process;
  const interrupt = new AbortController();
  // Once: a second Ctrl-C kills a command that hangs.
  process.once('SIGINT', () => interrupt.abort()).once('SIGTERM', () => interrupt.abort());
  for (const stream of [stdout, stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit(exitCodes.pipe);
    });
  return {
    ...screenOf(stdout),
    line: (text = '') => void stdout.write(`${text}\n`),
    // The text contains names and messages from others, and no colours of our own.
    note: (text) => void stderr.write(`${printableLines(text)}\n`),
    style: (style, text) => styleText(style, text, { stream: stdout }),
    // Created lazily: Node opens stdin on first access.
    get isInteractive() {
      return process.stdin.isTTY === true && stderr.isTTY === true;
    },
    async ask(question) {
      const lines = createInterface({ input: process.stdin, output: stderr });
      // On Ctrl-C the terminal notifies readline, not the process.
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
