import { readConfig } from '#shared/base/config';
import { ArcError } from '#shared/base/errors';
import { createLogger, type Logger } from '#shared/base/telemetry';
import { createKubeClient, functionAccess } from '#shared/kubernetes/client';
import { environment } from './environment.ts';
import type { Fn } from './function.ts';
import { type Served, serveFunction } from './serve.ts';

/**
 * Runs a container's process: serves `fn` on every interface until SIGTERM or SIGINT, drains, and exits with 0. Resolves when the
 * function is ready. A failed start is logged and exits with 1.
 */
export async function runMain(fn: Fn, name: string): Promise<void> {
  const log = createLogger({ name });
  // Node then prints the error and exits with 1. This line puts the reason into the log.
  process.on('uncaughtExceptionMonitor', (err) => log.fatal({ err }, 'uncaught'));
  const stopped = Promise.withResolvers<string>();
  // SIGTERM may arrive twice: a restarted kubelet repeats it.
  process.on('SIGTERM', () => stopped.resolve('SIGTERM'));
  process.once('SIGINT', () => stopped.resolve('SIGINT'));
  try {
    const served = await start(fn, name, log);
    void stopped.promise.then((signal) => stop(served, signal, log));
  } catch (caught) {
    log.fatal({ err: ArcError.from(caught) }, 'the function cannot start');
    process.exit(1);
  }
}

async function start(fn: Fn, name: string, log: Logger): Promise<Served> {
  const config = readConfig(environment, process.env);
  log.level = config.LOG_LEVEL;
  const service = config.K_SERVICE ?? name;
  const api = createKubeClient({ ...(await functionAccess(process.env)), userAgent: `${service} (arc)` });
  return serveFunction(fn, {
    name: service,
    port: config.PORT,
    host: '*',
    api,
    log: config.K_REVISION === undefined ? log : log.child({ revision: config.K_REVISION }),
    env: process.env,
    deadlineMs: config.ARC_DEADLINE_SECONDS * 1000,
    drainMs: config.ARC_DRAIN_SECONDS * 1000,
    startedAt: 0,
  });
}

async function stop(served: Served, signal: string, log: Logger): Promise<void> {
  log.info({ signal }, 'stopping');
  try {
    await served.close();
    process.exit(0);
  } catch (err) {
    log.fatal({ err }, 'the function did not stop cleanly');
    process.exit(1);
  }
}
