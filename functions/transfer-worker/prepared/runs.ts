import type { Readable } from 'node:stream';
import { isRecord } from '#shared/base/meta';

/** A run for a process that was started in advance. */
export interface Run {
  env: Record<string, string>;
  /** The working directory of the run. */
  cwd: string;
  /** The executor's marker for the end of the run; set if the process is to be reused. */
  mark?: string;
}

/** The runs announced on `stdin`, one per line. */
export interface Runs {
  /** Resolves with the next run; undefined when stdin has ended. Rejects for an invalid line. */
  next(): Promise<Run | undefined>;
}

const maxLineLength = 1024 * 1024;

/** Reads `stdin` continuously, even while a run is in progress, so that its end is noticed. */
export function readRuns(stdin: Readable): Runs {
  let text = '';
  let isOver = false;
  let wake = () => {};
  stdin.setEncoding('utf8').on('data', (more: string) => {
    text += more;
    wake();
  });
  for (const event of ['end', 'close', 'error'])
    stdin.once(event, () => {
      isOver = true;
      wake();
    });
  return {
    async next() {
      for (;;) {
        const end = text.indexOf('\n');
        if (end < 0 && text.length > maxLineLength)
          throw new Error('the line with the run is longer than 1 MiB');
        if (end < 0 && isOver) return undefined;
        if (end >= 0) {
          const line = text.slice(0, end);
          text = text.slice(end + 1);
          return parseRun(line);
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

function parseRun(line: string): Run {
  const value: unknown = JSON.parse(line);
  if (!isRecord(value) || !isRecord(value.env) || typeof value.cwd !== 'string')
    throw new Error('the line with the run has no env or no cwd');
  const env = Object.fromEntries(Object.entries(value.env).map(([name, text]) => [name, String(text)]));
  return { env, cwd: value.cwd, ...(typeof value.mark === 'string' && { mark: value.mark }) };
}
