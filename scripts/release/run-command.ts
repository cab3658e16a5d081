import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ArcError } from '#shared/base/errors';

export interface CommandOptions {
  signal: AbortSignal;
  cwd?: string;
  env?: Readonly<Record<string, string | undefined>>;
}

/** Timeout above the duration of any command on a busy machine, so that a hanging download cannot hang the release. */
const timeout = 15 * 60_000;

/** Runs a program; resolves with its stdout. Rejects with ServiceUnavailable and the end of stderr, also after 15 minutes. */
export async function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(command, args, {
      ...options,
      timeout,
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout;
  } catch (caught) {
    options.signal.throwIfAborted();
    const said = caught instanceof Error && 'stderr' in caught ? String(caught.stderr).trim() : '';
    const why = said === '' ? ArcError.from(caught).message : said.split('\n').slice(-3).join('\n');
    throw new ArcError('ServiceUnavailable', `${command} ${args.join(' ').slice(0, 200)} failed: ${why}`);
  }
}
