import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ArcError } from '#shared/base/errors';
import { type ProcessMark, signalGroup, startTimeOf } from './processes.ts';
import { createTail } from './tail.ts';

/** The environment and folder of a run. */
export interface Run {
  cwd: string;
  env: Readonly<Record<string, string>>;
}

/** Receivers of stdout and stderr. */
export type Outputs = readonly ((chunk: Buffer) => void)[];

/** A process, leader of its own group, that waits for `go`. */
export interface Startable {
  /** undefined if the process could not be started. */
  readonly pid: number | undefined;
  /**
   * Forwards output from now on, and resolves with the exit code of the run after all output has arrived: 128 + number for a signal, as in
   * shells. Rejects with InternalError if the process could not be started.
   */
  follow(outputs: Outputs): Promise<number>;
  /** Starts the run. */
  go(run: Run): void;
}

/** A process that is reused for several runs. */
export interface Worker extends Startable {
  /** Ends the run's use of the process. `isGood`: the run ended by itself, so the process may be reused; otherwise it is killed. */
  giveBack(isGood: boolean): Promise<void>;
}

export interface ChildOptions extends Run {
  command: readonly string[];
  /** The file for pid and start time, written before the program starts. */
  record: string;
  /** An existing process of this program, to be used for the run. */
  worker?: Worker | undefined;
  /** Creates a receiver for live output, one per stream. */
  live?: () => (chunk: Buffer) => void;
  /** On abort the group gets TERM, and KILL after `graceMs`. */
  signal: AbortSignal;
  graceMs: number;
}

export interface ChildResult {
  exitCode: number;
  /** The last 200 lines, at most 16 KiB, of stdout and stderr in order of arrival. */
  tail: string;
}

// Waits for a line on stdin, then execs the program with the same pid. So the program cannot run before its record exists, and
// never runs if the executor dies in between: the pipe then ends without a line.
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
 * Runs a program in its own process group, with a pipe as stdin that ends with this process. Resolves when the whole group has
 * ended, or, for a reused process, when its run has. Rejects with InternalError if it could not be started.
 */
export async function runChild(options: ChildOptions): Promise<ChildResult> {
  const { signal } = options;
  const program = options.worker ?? startGated(options);
  const tail = createTail();
  const output = () => {
    const live = options.live?.();
    return (chunk: Buffer) => {
      tail.push(chunk);
      live?.(chunk);
    };
  };
  const ended = program.follow([output(), output()]);
  const { pid } = program;
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
    program.go(options);
    return { exitCode: await ended, tail: tail.text() };
  } catch (caught) {
    signalGroup(pid, 'SIGKILL');
    await ended;
    throw ArcError.from(caught);
  } finally {
    clearTimeout(killer);
    signal.removeEventListener('abort', stop);
    await options.worker?.giveBack(!signal.aborted);
  }
}

function startGated({ command, cwd, env }: ChildOptions): Startable {
  const child = spawnPiped(['/bin/sh', '-c', gate, 'arc-run', ...command], { cwd, env });
  return {
    pid: child.pid,
    follow(outputs) {
      for (const [index, stream] of [child.stdout, child.stderr].entries())
        stream.on('data', (chunk: Buffer) => outputs[index]?.(chunk));
      return new Promise<number>((resolve, reject) => {
        child.once('error', (caught) => reject(notStarted(caught)));
        child.once('exit', () => {
          // Remaining children would keep the pipes open, and continue to run.
          if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL');
        });
        child.once('close', (code, name) => resolve(exitCodeOf(code, name)));
      });
    },
    go: () => void child.stdin.write('go\n'),
  };
}

/** Spawns a program with piped streams as the leader of its own group. Throws InternalError if the pipes cannot be created. */
export function spawnPiped(
  [program = '', ...args]: readonly string[],
  place: { cwd?: string; env: Readonly<Record<string, string>> },
): ChildProcessWithoutNullStreams {
  const child = spawn(program, args, { ...place, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  // Without free file descriptors there is a child without streams, contrary to its type, and an 'error' event follows.
  const { stdin } = child as Partial<typeof child>;
  if (stdin === undefined) {
    child.once('error', () => undefined);
    const full = new Error('there are too many open files: raise the limit (ulimit -n) of this process');
    throw notStarted(Object.assign(full, { code: 'EMFILE' }));
  }
  // A program that exits without reading its stdin breaks the pipe: its exit code says more.
  stdin.on('error', () => undefined);
  return child;
}

export function notStarted(cause: Error): ArcError {
  return new ArcError('InternalError', `cannot start a program: ${cause.message}`, { cause });
}

/** Returns 128 + number for a signal. */
export function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signalNumbers[signal ?? ''] ?? 0);
}

/** Not flushed to disk: the record has to survive this process only, and no process survives the machine. */
async function keepRecord(folder: string, pid: number): Promise<void> {
  const mark: ProcessMark = { pid, startTime: (await startTimeOf(pid)) ?? '' };
  await writeFile(path.join(folder, recordName), JSON.stringify(mark), { mode: 0o600 });
}
