import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ArcError } from '#shared/errors';
import { type ProcessMark, signalGroup, startTimeOf } from './processes.ts';
import type { PipedChild } from './spares.ts';
import { createTail } from './tail.ts';

export interface ChildOptions {
  command: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Where pid and start time are kept before the program starts. */
  record: string;
  /** Started ahead for this program; it takes exactly this run. */
  spare?: PipedChild | undefined;
  /** Makes what takes the output as it comes, one for each stream. */
  live?: () => (chunk: Buffer) => void;
  /** Aborted: the group gets TERM, and KILL after `graceMs`. */
  signal: AbortSignal;
  graceMs: number;
}

export interface ChildResult {
  /** 128 + number for a signal, as shells count. */
  exitCode: number;
  /** The last 200 lines, at most 16 KiB, of stdout and stderr as they came. */
  tail: string;
}

// Waits for a line on stdin, then becomes the program, pid and all: it cannot run before it is on record, and it never
// runs when the executor dies in between, for then the pipe ends without a line.
const gate = 'IFS= read -r go && exec "$@"';

const signalNumbers: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGTERM: 15,
};

/** The record of a running program, in its run folder. */
export const recordName = 'process.json';

/**
 * Runs a program in a process group of its own, its stdin a pipe that ends with us, and resolves when the whole group has
 * ended. Rejects with InternalError when it could not be started.
 */
export async function runChild(options: ChildOptions): Promise<ChildResult> {
  const { signal } = options;
  const { cwd, env, spare } = options;
  const child = spare ?? startGated(options);
  const tail = createTail();
  for (const stream of [child.stdout, child.stderr]) {
    const live = options.live?.();
    stream.on('data', (chunk: Buffer) => {
      tail.push(chunk);
      live?.(chunk);
    });
  }
  // A program that ends without reading its stdin breaks the pipe: its exit tells more.
  child.stdin.on('error', () => undefined);
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', (caught) =>
      reject(new ArcError('InternalError', `cannot start a program: ${caught.message}`)),
    );
    child.once('exit', () => {
      // Children it left behind would keep the pipes open, and run on.
      if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL');
    });
    child.once('close', (code, name) => resolve(code ?? 128 + (signalNumbers[name ?? ''] ?? 0)));
  });
  const { pid } = child;
  if (pid === undefined) return ended.then((exitCode) => ({ exitCode, tail: '' }));

  let killer: NodeJS.Timeout | undefined;
  const stop = () => {
    signalGroup(pid, 'SIGTERM');
    killer = setTimeout(() => signalGroup(pid, 'SIGKILL'), options.graceMs);
  };
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    await keepRecord(options.record, pid);
    child.stdin.write(spare ? `${JSON.stringify({ env, cwd })}\n` : 'go\n');
    return { exitCode: await ended, tail: tail.text() };
  } catch (caught) {
    signalGroup(pid, 'SIGKILL');
    await ended;
    throw ArcError.from(caught);
  } finally {
    clearTimeout(killer);
    signal.removeEventListener('abort', stop);
  }
}

function startGated({ command, cwd, env }: ChildOptions): PipedChild {
  return spawn('/bin/sh', ['-c', gate, 'arc-run', ...command], {
    cwd,
    env: { ...env },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

async function keepRecord(folder: string, pid: number): Promise<void> {
  const mark: ProcessMark = { pid, startTime: (await startTimeOf(pid)) ?? '' };
  await writeFile(path.join(folder, recordName), JSON.stringify(mark), { mode: 0o600, flush: true });
}
