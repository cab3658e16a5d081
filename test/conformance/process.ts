import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ArcError } from '#shared/errors';

/** A server that runs beside the comparison; its output is in `logFile`. */
export interface RunningProcess {
  name: string;
  pid: number;
  logFile: string;
  /** Undefined while it runs, then why it ended. */
  ended(): string | undefined;
  stop(): Promise<void>;
}

/** Starts a program whose output goes to `logFile`. */
export function startProcess(
  name: string,
  file: string,
  args: readonly string[],
  logFile: string,
): RunningProcess {
  const child: ChildProcess = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const log = createWriteStream(logFile);
  child.stdout?.pipe(log, { end: false });
  child.stderr?.pipe(log, { end: false });
  let why: string | undefined;
  child.once('error', (caught) => {
    why = caught.message;
  });
  child.once('exit', (code, signal) => {
    why = `exit ${code ?? signal}`;
  });
  return {
    name,
    pid: child.pid ?? 0,
    logFile,
    ended: () => why,
    async stop() {
      if (why !== undefined) return;
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      const impatient = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await exit;
      clearTimeout(impatient);
    },
  };
}

/** A loopback port nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string')
    throw new ArcError('InternalError', 'no port was given');
  return address.port;
}

/** Asks until `ready` says yes; rejects when the process ends first or after `seconds`. */
export async function untilReady(
  running: RunningProcess,
  seconds: number,
  ready: () => Promise<boolean>,
): Promise<void> {
  const until = Date.now() + seconds * 1000;
  while (!(await ready().catch(() => false))) {
    const why = running.ended() ?? (Date.now() > until ? `not ready after ${seconds} s` : undefined);
    if (why !== undefined) {
      throw new ArcError(
        'ServiceUnavailable',
        `${running.name}: ${why}; its output is in ${running.logFile}`,
      );
    }
    await sleep(200);
  }
}
