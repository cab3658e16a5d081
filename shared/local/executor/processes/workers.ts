import type { Worker } from './child.ts';
import { inheritedEnvironment } from './inherited-environment.ts';
import { startWorker, type WorkerProcess } from './worker-process.ts';

/** Reusable processes of one program, so that a small run does not pay for a process start. */
export interface Workers {
  /** Announces a run: starts a process for it, unless one is free or the maximum is reached. */
  warm(): void;
  /** Returns a process for a run of `command` in `env`; undefined if the run needs a process of its own. */
  take(command: readonly string[], env: Readonly<Record<string, string>>): Worker | undefined;
  /** Ends the free processes, and from then on each process that is given back. */
  close(): Promise<void>;
}

export interface WorkersOptions {
  /** The program, and the environment of its processes. */
  command: readonly string[];
  outer: Readonly<Record<string, string | undefined>>;
  /** Processes started ahead of runs. */
  most: number;
  /** A process that is free for this long is ended (default 15 s). */
  idleMs?: number;
}

/** Variables that a process reads at its start, so that they cannot be set later. */
const readAtStart = /^(?:NODE_|UV_|LD_|SSL_|OPENSSL_|MALLOC_)/;

/** Creates the pool; starts no process yet. */
export function createWorkers({ command, outer, most, idleMs = 15_000 }: WorkersOptions): Workers {
  const env = inheritedEnvironment(outer);
  const all = new Set<WorkerProcess>();
  /** Last in, first out, so that surplus processes become idle and end. */
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
        // The run itself retries, and reports the failure.
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
