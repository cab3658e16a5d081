import type { Readable } from 'node:stream';
import { isRecord } from '#shared/meta';

/** What a process that was started ahead takes on. */
export interface Run {
  env: Record<string, string>;
  /** The folder to run in. */
  cwd: string;
}

const longestLine = 1024 * 1024;

/**
 * Waits for the first line of `stdin`, a Run as JSON, and leaves the rest to be read. Resolves with undefined if stdin ends before it:
 * then there is nothing to do. Throws for a line that is no Run.
 */
export async function readRun(stdin: Readable): Promise<Run | undefined> {
  let text = '';
  for await (const chunk of stdin.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (text.length > longestLine) throw new Error('the line that tells of the run is longer than 1 MiB');
    if (text.includes('\n')) return parseRun(text.slice(0, text.indexOf('\n')));
  }
  return undefined;
}

function parseRun(line: string): Run {
  const value: unknown = JSON.parse(line);
  if (!isRecord(value) || !isRecord(value.env) || typeof value.cwd !== 'string')
    throw new Error('the line that tells of the run has no env or no cwd');
  const env = Object.fromEntries(Object.entries(value.env).map(([name, text]) => [name, String(text)]));
  return { env, cwd: value.cwd };
}
