import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { signalGroup } from './processes.ts';
import { inheritedEnvironment } from './run-folder.ts';

export type PipedChild = ChildProcessByStdio<Writable, Readable, Readable>;

/**
 * Processes of one program that have been started ahead, so that a run does not wait for its start. Each does one run and ends. The program
 * waits, where ARC_PREPARED is set, for one line on its stdin: a JSON object with the environment `env` and the folder `cwd` of the run.
 */
export interface Spares {
  /** Starts them, unless they are there. Those that nobody takes for a minute are ended. */
  warm(): void;
  /** One for a run of `command` in `env`; undefined if there is none that fits. */
  take(command: readonly string[], env: Readonly<Record<string, string>>): PipedChild | undefined;
  /** Ends them; resolves when they have ended. */
  close(): Promise<void>;
}

const count = 2;
const idleMs = 60_000;
/** Variables that a process reads when it starts, so that they cannot be given to it later. */
const readAtStart = /^(?:NODE_|LD_|SSL_|OPENSSL_|MALLOC_)/;

/** Spares for `command`, whose environment is taken from `outer`. Nothing is started yet. */
export function createSpares(
  command: readonly string[],
  outer: Readonly<Record<string, string | undefined>>,
): Spares {
  const env: Record<string, string> = { ...inheritedEnvironment(outer), ARC_PREPARED: '1' };
  const idle = new Set<PipedChild>();
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  function start(): void {
    const [program = '', ...args] = command;
    const child = spawn(program, args, { env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    idle.add(child);
    // A run that finds none starts the program itself, and reports what is wrong with it.
    for (const event of ['error', 'exit']) child.once(event, () => idle.delete(child));
    child.stdin.on('error', () => undefined);
    for (const part of [child, child.stdin, child.stdout, child.stderr]) unref(part);
  }

  async function endAll(): Promise<void> {
    const ended = [...idle].map(async (child) => {
      if (child.pid !== undefined && signalGroup(child.pid, 'SIGKILL')) await once(child, 'exit');
    });
    idle.clear();
    await Promise.all(ended);
  }

  function fits(asked: readonly string[], wanted: Readonly<Record<string, string>>): boolean {
    const names = new Set(
      [...Object.keys(wanted), ...Object.keys(env)].filter((name) => readAtStart.test(name)),
    );
    return asked === command && [...names].every((name) => wanted[name] === env[name]);
  }

  function warm(): void {
    if (closed) return;
    while (idle.size < count) start();
    clearTimeout(timer);
    timer = setTimeout(() => void endAll(), idleMs).unref();
  }

  return {
    warm,
    take(asked, wanted) {
      if (!fits(asked, wanted)) return undefined;
      const [child] = [...idle].filter(({ pid, exitCode, signalCode }) => {
        return pid !== undefined && exitCode === null && signalCode === null;
      });
      if (child === undefined) return undefined;
      idle.delete(child);
      for (const part of [child, child.stdin, child.stdout, child.stderr]) ref(part);
      warm();
      return child;
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await endAll();
    },
  };
}

/** An idle spare keeps nobody alive. Pipes of children are sockets, which their types do not say. */
function unref(part: object): void {
  if ('unref' in part && typeof part.unref === 'function') part.unref();
}

function ref(part: object): void {
  if ('ref' in part && typeof part.ref === 'function') part.ref();
}
