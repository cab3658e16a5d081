import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ArcError } from '#shared/base/errors';
import { type ProcessMark, signalGroup, startTimeOf } from './processes.ts';
import { createTail } from './tail.ts';

/** What a program runs in. */
export interface Run {
  cwd: string;
  env: Readonly<Record<string, string>>;
}

/** Takes stdout and stderr, as they come. */
export type Outputs = readonly ((chunk: Buffer) => void)[];

/** A process, leader of a group of its own, that waits for the word to run. */
export interface Startable {
  /** Undefined: it could not be started. */
  readonly pid: number | undefined;
  /**
   * Passes on what it prints from now on, and resolves with the exit code of the run when all of that has come: 128 + number for a signal, as
   * shells count. Rejects with InternalError when it could not be started.
   */
  follow(outputs: Outputs): Promise<number>;
  /** Gives the word. */
  go(run: Run): void;
}

/** A process that is there for run after run. */
export interface Worker extends Startable {
  /** Ends the run's use of it. `isGood`: that has ended by itself, so that another one may follow; else the process is ended. */
  giveBack(isGood: boolean): Promise<void>;
}

export interface ChildOptions extends Run {
  command: readonly string[];
  /** Where pid and start time are kept before the program starts. */
  record: string;
  /** A process of this program that is there already; it takes this run. */
  worker?: Worker | undefined;
  /** Makes what takes the output as it comes, one for each stream. */
  live?: () => (chunk: Buffer) => void;
  /** Aborted: the group gets TERM, and KILL after `graceMs`. */
  signal: AbortSignal;
  graceMs: number;
}

export interface ChildResult {
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
 * ended, or the worker's process when its run has. Rejects with InternalError when it could not be started.
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
          // Children it left behind would keep the pipes open, and run on.
          if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL');
        });
        child.once('close', (code, name) => resolve(exitCodeOf(code, name)));
      });
    },
    go: () => void child.stdin.write('go\n'),
  };
}

/** Starts a program, its streams pipes, as the leader of a group of its own. Throws InternalError where not even the pipes can be made. */
export function spawnPiped(
  [program = '', ...args]: readonly string[],
  place: { cwd?: string; env: Readonly<Record<string, string>> },
): ChildProcessWithoutNullStreams {
  const child = spawn(program, args, { ...place, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  // Without a file descriptor to spare there is a child without streams, which its type does not say, and an 'error' of it to come.
  const { stdin } = child as Partial<typeof child>;
  if (stdin === undefined) {
    child.once('error', () => undefined);
    const full = new Error('there are too many open files: raise the limit (ulimit -n) of this process');
    throw notStarted(Object.assign(full, { code: 'EMFILE' }));
  }
  // A program that ends without reading its stdin breaks the pipe: its exit tells more.
  stdin.on('error', () => undefined);
  return child;
}

export function notStarted(cause: Error): ArcError {
  return new ArcError('InternalError', `cannot start a program: ${cause.message}`, { cause });
}

/** 128 + number for a signal. */
export function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signalNumbers[signal ?? ''] ?? 0);
}

/** Not flushed to disk: it outlives us, and no process outlives the machine. */
async function keepRecord(folder: string, pid: number): Promise<void> {
  const mark: ProcessMark = { pid, startTime: (await startTimeOf(pid)) ?? '' };
  await writeFile(path.join(folder, recordName), JSON.stringify(mark), { mode: 0o600 });
}
