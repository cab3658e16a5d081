import os from 'node:os';
import path from 'node:path';
import { printable, printableJson } from '#shared/base/errors';
import type { CopyOptions } from '#shared/transfer';
import { type Output, progressLine } from './progress-line.ts';

export interface Terminal {
  stdout: Output;
  stderr: Output;
  /** For reading passwords. */
  stdin?: NodeJS.ReadableStream & { isTTY?: boolean };
  env: Readonly<Record<string, string | undefined>>;
  /** Aborted by Ctrl-C and SIGTERM. */
  signal: AbortSignal;
}

/** The options of a transfer for a person. */
export function optionsOf({ env, signal }: Terminal): CopyOptions {
  // A person is waiting, so there are fewer attempts than in a worker.
  return {
    signal,
    proxyEnv: env,
    retry: { attempts: 3 },
    workDir: path.join(env.TMPDIR ?? os.tmpdir(), 'arc-transfer'),
  };
}

/** Prints the result to stdout, and its warnings to stderr. */
export function print(
  { stdout, stderr }: Terminal,
  json: boolean | undefined,
  result: { warnings: string[] },
  lines: readonly string[],
): void {
  for (const warning of json ? [] : result.warnings) stderr.write(`Warning: ${printable(warning)}\n`);
  if (json) stdout.write(`${printableJson(JSON.stringify(result))}\n`);
  else for (const text of lines) stdout.write(`${printable(text)}\n`);
}

/** Runs `act` with a progress line, unless `shown` disables it. */
export async function withProgress<Result>(
  { stderr }: Terminal,
  shown: { json?: boolean; quiet?: boolean },
  act: (options: Pick<CopyOptions, 'progress'>) => Promise<Result>,
): Promise<Result> {
  if (shown.json || shown.quiet) return act({});
  const line = progressLine(stderr, () => performance.now());
  try {
    return await act({ progress: line.progress });
  } finally {
    line.end();
  }
}
