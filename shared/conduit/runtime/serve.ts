import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';
import { limitEmptyLines, within } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { createMetrics } from '#shared/base/telemetry';
import { type AppDependencies, createApp } from './app.ts';
import type { Fn } from './function.ts';
import { createFunctionMetrics } from './function-metrics.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import { times } from './times.ts';

export interface ServeOptions extends Omit<AppDependencies, 'lifecycle'> {
  /** 0: any free port. */
  port: number;
  /** Address to listen on; default 127.0.0.1; `*` is every interface. */
  host?: string;
  /** Time for deliveries in flight to finish when the process stops. See times.ts. */
  drainMs?: number;
  /** Origin of faas_cold_start_latency on the clock of performance.now(); 0 is the start of the process. */
  startedAt?: number;
}

export interface Served {
  url: string;
  /** Handles a request like the server behind `url`, without a socket. */
  fetch: Hono['fetch'];
  /** Stops accepting, waits for deliveries in flight up to `drainMs`, aborts the rest, then calls `shutdown`. Idempotent. */
  close(): Promise<void>;
}

// Longer than proxies keep idle connections: the client must be the side that closes first (knative/serving#12414).
const keepAliveTimeout = 620_000;
const headersTimeout = 20_000;
// Bounds requests that no handler sees. The deadline of a delivery covers reading its body as well.
const requestTimeout = 60_000;
const initMs = 60_000;
const lastMs = 2_000;

/**
 * Serves a function over HTTP. Listens at once, so that liveness answers, and resolves when `init` is done; rejects with
 * ServiceUnavailable if it cannot listen, otherwise with the error of `init`.
 */
export async function serveFunction(fn: Fn, options: ServeOptions): Promise<Served> {
  const { startedAt = performance.now(), metrics = createMetrics(), env, api, log, name } = options;
  const lifecycle = createLifecycle();
  const app = createApp(fn, { ...options, metrics, lifecycle });
  const server = createAdaptorServer({
    fetch: app.fetch,
    overrideGlobalObjects: false,
    serverOptions: { keepAliveTimeout, headersTimeout, requestTimeout },
  }) as Server;
  limitEmptyLines(server);
  const url = await listen(server, options.port, options.host ?? '127.0.0.1');
  server.on('error', (err) => log.error({ err }, 'server error'));
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= end(fn, server, lifecycle, options);
    return closing;
  };
  try {
    await within(initMs, 'init', fn.init?.({ log, api, metrics, env }));
  } catch (caught) {
    server.closeAllConnections();
    server.close();
    throw ArcError.from(caught);
  }
  createFunctionMetrics(metrics, name).started((performance.now() - startedAt) / 1000);
  lifecycle.ready = true;
  log.info({ url }, 'ready');
  return { url, fetch: app.fetch, close };
}

async function listen(server: Server, port: number, host: string): Promise<string> {
  try {
    // Without an address Node listens on ::, or, without IPv6, on 0.0.0.0.
    server.listen(port, ...(host === '*' ? [] : [host]));
    await once(server, 'listening');
  } catch (caught) {
    const reason = ArcError.from(caught).message;
    throw new ArcError('ServiceUnavailable', `cannot listen on ${host}:${port}: ${reason}`, {
      cause: caught,
    });
  }
  const address = server.address() as AddressInfo;
  const shown = host === '*' ? 'localhost' : host;
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${address.port}`;
}

async function end(fn: Fn, server: Server, lifecycle: Lifecycle, options: ServeOptions): Promise<void> {
  const { log, drainMs = times.drain * 1000 } = options;
  lifecycle.drain();
  const closed = Promise.withResolvers<void>();
  server.close(() => closed.resolve());
  if (!(await lifecycle.idle(drainMs))) {
    log.warn(
      { inFlight: lifecycle.inFlight },
      'deliveries did not finish in time and are aborted; the broker delivers them again',
    );
    lifecycle.abort(new ArcError('ServiceUnavailable', 'the process is stopping'));
    await lifecycle.idle(lastMs);
  }
  server.closeIdleConnections();
  // Answers may still be in flight. Connections that never carried a request would stay open forever.
  const cut = setTimeout(() => server.closeAllConnections(), lastMs);
  await closed.promise;
  clearTimeout(cut);
  await within(lastMs, 'shutdown', fn.shutdown?.()).catch((err: unknown) =>
    log.error({ err }, 'shutdown failed'),
  );
}
