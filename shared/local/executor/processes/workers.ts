import type { Worker } from './child.ts';
import { inheritedEnvironment } from './inherited-environment.ts';
import { startWorker, type WorkerProcess } from './worker-process.ts';

/** Processes of one program that do run after run, so that a small one does not pay for the start of a process. */
export interface Workers {
  /** A run is near: starts a process for it, unless one is free or there are as many as there may be. */
  warm(): void;
  /** A process for a run of `command` in `env`; undefined if that needs one of its own. */
  take(command: readonly string[], env: Readonly<Record<string, string>>): Worker | undefined;
  /** Ends those that are free, and from then on each that is given back. */
  close(): Promise<void>;
}

export interface WorkersOptions {
  /** The program, and what its environment is taken from. */
  command: readonly string[];
  outer: Readonly<Record<string, string | undefined>>;
  /** Processes that are started ahead of runs. */
  most: number;
  /** One that is free for so long is ended (default 15 s). */
  idleMs?: number;
}

/** Variables that a process reads when it starts, so that they cannot be given to it later. */
const readAtStart = /^(?:NODE_|UV_|LD_|SSL_|OPENSSL_|MALLOC_)/;

/** Nothing is started yet. */
export function createWorkers({ command, outer, most, idleMs = 15_000 }: WorkersOptions): Workers {
  const env = inheritedEnvironment(outer);
  const all = new Set<WorkerProcess>();
  /** The last one that became free goes first: those that are not needed come to their end. */
  const free = new Map<WorkerProcess, NodeJS.Timeout>();
  let isClosed = false;

  function start(): WorkerProcess {
    const worker = startWorker(command, env, () => forget(worker));
    all.add(worker);
    return worker;
  }

  function forget(worker: WorkerProcess): void {
    clearTimeout(free.get(worker));
    free.delete(worker);
    all.delete(worker);
  }

  function keep(worker: WorkerProcess): void {
    worker.hold(false);
    free.set(worker, setTimeout(() => void worker.end(), idleMs).unref());
  }

  function lent(worker: WorkerProcess): Worker {
    clearTimeout(free.get(worker));
    free.delete(worker);
    worker.hold(true);
    const { pid, follow, go } = worker;
    return {
      pid,
      follow,
      go,
      async giveBack(isGood) {
        if (isGood && worker.isFree && !isClosed) keep(worker);
        else await worker.end();
      },
    };
  }

  function fits(asked: readonly string[], wanted: Readonly<Record<string, string>>): boolean {
    const names = new Set(
      [...Object.keys(wanted), ...Object.keys(env)].filter((name) => readAtStart.test(name)),
    );
    return asked === command && [...names].every((name) => wanted[name] === env[name]);
  }

  return {
    warm() {
      if (isClosed || free.size > 0 || all.size >= most) return;
      try {
        keep(start());
      } catch {
        // The run that comes tries again, and tells of it.
      }
    },
    take(asked, wanted) {
      if (isClosed || !fits(asked, wanted)) return undefined;
      return lent([...free.keys()].at(-1) ?? start());
    },
    async close() {
      isClosed = true;
      await Promise.all([...free.keys()].map((worker) => worker.end()));
    },
  };
}
