import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { conduitNamespace } from '#shared/domain';
import { exitCodes, Failure } from '../core/failure.ts';
import type { Io } from '../core/io.ts';
import type { GlobalOptions } from '../core/session.ts';

interface Streams {
  input?: Readable;
  output: Writable;
}

/**
 * Runs a program in a container of ARC's namespace with kubectl, which supports every authentication method, and connects its streams. The
 * program's stderr is shown. Rejects with a Failure if it fails.
 */
export async function execInPod(
  io: Io,
  options: GlobalOptions,
  { target, container }: { target: string; container: string },
  program: readonly string[],
  { input, output }: Streams,
): Promise<void> {
  const args = [
    ...flagsOf(options),
    ...['-n', conduitNamespace, 'exec', ...(input ? ['-i'] : []), target, '-c', container, '--', ...program],
  ];
  const child = spawn('kubectl', args, {
    stdio: [input ? 'pipe' : 'ignore', 'pipe', 'inherit'],
    env: io.env,
    signal: io.signal,
  });
  const ended = once(child, 'close').catch((caught: unknown) => {
    const isAbsent = caught instanceof Error && 'code' in caught && caught.code === 'ENOENT';
    throw isAbsent ? new Failure(exitCodes.no, 'kubectl is required, but is not on the PATH') : caught;
  });
  const streams = [
    ...(child.stdout ? [pipeline(child.stdout, output)] : []),
    // If the program exits early, its own message explains why.
    ...(input && child.stdin ? [pipeline(input, child.stdin).catch(() => undefined)] : []),
  ];
  const [[code]] = await Promise.all([ended, ...streams]);
  if (code !== 0) throw new Failure(exitCodes.no, `kubectl exec ${target} failed with exit code ${code}`);
}

/** Returns kubectl flags for arcctl's cluster and user. */
function flagsOf({ context, kubeconfig, as: user, asGroup = [], asUid }: GlobalOptions): string[] {
  const given = { context, kubeconfig, as: user, 'as-uid': asUid };
  return [
    ...Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`])),
    ...asGroup.map((group) => `--as-group=${group}`),
  ];
}
