import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { exitCodeOf, notStarted, type Startable, spawnPiped } from './child.ts';
import { signalGroup } from './processes.ts';
import { untilMark } from './until-mark.ts';

/** A process that does one run after the other. */
export interface WorkerProcess extends Startable {
  /** It may be given a run. */
  readonly isFree: boolean;
  /** Whether it keeps this process alive. */
  hold(isHeld: boolean): void;
  /** Kills it; resolves when it has ended. */
  end(): Promise<void>;
}

/** A run that is under way: where its output goes, and who waits for its end. */
interface Current {
  mark: string;
  inputs: ((chunk: Buffer) => void)[];
  resolve: (exitCode: number) => void;
  reject: (caught: Error) => void;
}

/**
 * Starts a program that waits, with ARC_PREPARED set, for lines on its stdin: each a JSON object with the environment `env` and the folder
 * `cwd` of a run, and its `mark`. It ends a run by a line on stdout and stderr with that mark (`untilMark`), or by ending itself. `onEnd` is
 * called when it has ended, and when nothing more may be given to it. Throws InternalError where there is no process to be had.
 */
export function startWorker(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  onEnd: () => void,
): WorkerProcess {
  const child = spawnPiped(command, { env: { ...env, ARC_PREPARED: '1' } });
  let current: Current | undefined;
  let isSound = true;
  const spoil = () => {
    isSound = false;
    onEnd();
  };
  child.once('error', (caught) => {
    spoil();
    current?.reject(notStarted(caught));
  });
  child.once('exit', () => {
    spoil();
    if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL');
  });
  child.once('close', (code, name) => current?.resolve(exitCodeOf(code, name)));
  async function end(): Promise<void> {
    spoil();
    if (hasEnded(child)) return;
    const ended = once(child, 'exit');
    if (child.pid !== undefined && signalGroup(child.pid, 'SIGKILL')) await ended;
  }
  // Nobody knows what it is about that comes without a run.
  for (const [index, stream] of [child.stdout, child.stderr].entries())
    stream.on('data', (chunk: Buffer) => (current ? current.inputs[index]?.(chunk) : void end()));

  return {
    pid: child.pid,
    get isFree() {
      return isSound && current === undefined;
    },
    hold(isHeld) {
      for (const part of [child, child.stdin, child.stdout, child.stderr]) setHeld(part, isHeld);
    },
    follow(outputs) {
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      const mark = randomBytes(16).toString('hex');
      let open = outputs.length;
      const endOfOne = (exitCode: number) => {
        open -= 1;
        if (open > 0) return;
        current = undefined;
        resolve(exitCode);
      };
      const inputs = outputs.map((take) => untilMark({ mark, take, end: endOfOne, stray: spoil }));
      current = { mark, inputs, resolve, reject };
      return promise;
    },
    go({ env, cwd }) {
      child.stdin.write(`${JSON.stringify({ env, cwd, mark: current?.mark })}\n`);
    },
    end,
  };
}

function hasEnded({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null;
}

/** Pipes of children are sockets, which their types do not say. */
function setHeld(part: object, isHeld: boolean): void {
  const name = isHeld ? 'ref' : 'unref';
  if (name in part) {
    const change = (part as Record<typeof name, unknown>)[name];
    if (typeof change === 'function') change.call(part);
  }
}
