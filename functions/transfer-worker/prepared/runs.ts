import type { Readable } from 'node:stream';
import { isRecord } from '#shared/base/meta';

/** What a process that was started ahead takes on. */
export interface Run {
  env: Record<string, string>;
  /** The folder to run in. */
  cwd: string;
  /** What the executor knows the end of the run by, if the process is to take another one after it. */
  mark?: string;
}

/** The runs that a process is told of, one line of `stdin` each. */
export interface Runs {
  /** Waits for the next one: undefined when stdin has ended. Rejects for a line that is no Run. */
  next(): Promise<Run | undefined>;
}

const longestLine = 1024 * 1024;

/** Reads `stdin` from now on, also while a run is under way, so that its end is seen. */
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
        if (end < 0 && text.length > longestLine)
          throw new Error('the line that tells of the run is longer than 1 MiB');
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
    throw new Error('the line that tells of the run has no env or no cwd');
  const env = Object.fromEntries(Object.entries(value.env).map(([name, text]) => [name, String(text)]));
  return { env, cwd: value.cwd, ...(typeof value.mark === 'string' && { mark: value.mark }) };
}
