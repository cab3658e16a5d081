/** Serves the console in a cluster. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';
import { limitEmptyLines } from '#shared/base/async';
import { readConfig } from '#shared/base/config';
import { ArcError } from '#shared/base/errors';
import { createLogger, type Logger } from '#shared/base/telemetry';
import { followPem, readPem } from '../../functions/api-server/pem-files.ts';
import { loadConsole } from '../arcctl/console/server/assets.ts';
import type { ConsoleApp } from '../build/console.ts';
import { createConsole, createProbes } from './console.ts';
import { createSignOn } from './oidc.ts';
import { type Settings, settings } from './settings.ts';

const minuteMs = 60_000;
const mostConnections = 2_000;

async function main(): Promise<void> {
  const config = readConfig(settings, process.env);
  const log = createLogger({ name: 'console', level: config.LOG_LEVEL });
  const ending = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => ending.abort());
  const pages = createPages(config, await loadConsole(), log, ending.signal);

  const { ARC_BIND_ADDRESS: address, PORT, ARC_TLS_PORT } = config;
  const secure = await secureServer(config, pages, log, ending.signal);
  const servers = [await listen(plainServer(secure ? createProbes() : pages), PORT, address)];
  if (secure) servers.push(await listen(secure, ARC_TLS_PORT, address));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  log.info({ url: config.ARC_CONSOLE_URL, ports, tls: secure !== undefined }, 'serving');

  if (!ending.signal.aborted) await once(ending.signal, 'abort');
  const closed = servers.map((server) => once(server, 'close'));
  for (const server of servers) server.close().closeAllConnections();
  await Promise.all(closed);
}

function createPages(config: Settings, front: ConsoleApp, log: Logger, signal: AbortSignal): Hono {
  const { origin } = new URL(config.ARC_CONSOLE_URL);
  const { ARC_OIDC_ISSUER: issuer } = config;
  const signOn = issuer !== undefined && {
    name: new URL(issuer).host,
    ...createSignOn({
      issuer,
      clientId: config.ARC_OIDC_CLIENT_ID,
      clientSecret: config.ARC_OIDC_CLIENT_SECRET,
      scopes: config.ARC_OIDC_SCOPES,
      redirectUri: `${origin}/sign-in/callback`,
    }),
  };
  return createConsole({
    env: process.env,
    origin,
    front: async () => front,
    ...(signOn && { signOn }),
    limits: {
      idleMs: config.ARC_CONSOLE_IDLE_MINUTES * minuteMs,
      longestMs: config.ARC_CONSOLE_SESSION_HOURS * 60 * minuteMs,
      most: config.ARC_CONSOLE_MOST_SESSIONS,
      mostPerUser: 10,
    },
    proxies: config.ARC_CONSOLE_PROXIES,
    log,
    signal,
  });
}

function plainServer(app: Pick<Hono, 'fetch'>): Server {
  return createAdaptorServer({ fetch: app.fetch, createServer, overrideGlobalObjects: false }) as Server;
}

/** Serves the pages over TLS and reloads the certificate when its files change; undefined without a certificate. */
async function secureServer(
  { ARC_TLS_CERT_FILE: cert, ARC_TLS_KEY_FILE: key }: Settings,
  app: Pick<Hono, 'fetch'>,
  log: Logger,
  signal: AbortSignal,
): Promise<Server | undefined> {
  if (cert === undefined || key === undefined || !existsSync(cert)) return undefined;
  const files = { cert, key };
  const current = await readPem(files);
  const server = createAdaptorServer({
    fetch: app.fetch,
    createServer: createSecureServer,
    serverOptions: current,
    overrideGlobalObjects: false,
  }) as ReturnType<typeof createSecureServer>;
  void followPem({
    files,
    current,
    signal,
    onChange: (texts) => server.setSecureContext(texts),
    onFailure: (error) => log.warn({ err: error }, 'cannot use the serving certificate'),
  });
  return server;
}

async function listen(server: Server, port: number, address: string): Promise<Server> {
  limitEmptyLines(server);
  server.maxConnections = mostConnections;
  await once(server.listen(port, address), 'listening');
  return server;
}

main().catch((caught: unknown) => {
  const error = ArcError.from(caught);
  createLogger({ name: 'console' }).fatal({ err: error }, error.message);
  process.exitCode = 1;
});
