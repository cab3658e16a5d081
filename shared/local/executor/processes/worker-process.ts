import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { exitCodeOf, notStarted, type Startable, spawnPiped } from './child.ts';
import { signalGroup } from './processes.ts';
import { untilMark } from './until-mark.ts';

/** A process that does one run after another. */
export interface WorkerProcess extends Startable {
  /** True if it can take a run. */
  readonly isFree: boolean;
  /** Sets whether it keeps this process alive. */
  hold(isHeld: boolean): void;
  /** Kills it; resolves when it has ended. */
  end(): Promise<void>;
}

/** The run in progress: the receivers of its output, and the promise of its end. */
interface Current {
  mark: string;
  inputs: ((chunk: Buffer) => void)[];
  resolve: (exitCode: number) => void;
  reject: (caught: Error) => void;
}

/**
 * Starts a program that waits, with ARC_PREPARED set, for lines on its stdin: each a JSON object with the environment `env` and the folder
 * `cwd` of a run, and its `mark`. It ends a run with a line on stdout and stderr that contains the mark (`untilMark`), or by exiting. `onEnd`
 * is called when it has exited, and when it can take no more runs. Throws InternalError if no process can be started.
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
  // Output without a run cannot be attributed.
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
