import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { limitEmptyLines } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { exitCodes, Failure } from '../../core/failure.ts';
import type { Cluster } from '../../core/session.ts';
import { createWatches } from '../model/watches.ts';
import { createDashboard } from './app.ts';
import { loadConsole } from './assets.ts';
import { createHostName, createSecrets, type Secrets } from './guard.ts';
import { listenOnLoopback, portOf } from './loopback.ts';

/** Host name, port and secrets of a dashboard. Anyone with its URL has the permissions of the dashboard. */
export interface Access {
  /** Name and port are reused at the next start if the port is free. */
  hostName: string;
  port: number;
  secrets: Secrets;
}

export interface Dashboard {
  /** The URL, with a unique host name that browsers resolve to loopback, and the token. */
  url: string;
  /** Pass it as `access` at a later start to keep the URL and the browser sessions. */
  access: Access;
  /** Stops live updates, watches and connections. */
  close(): Promise<void>;
}

/** Limits for a single user. */
const mostConnections = 100;

interface ServeOptions {
  /** 0: any free port. */
  port: number;
  /** The visible namespace; absent: all. */
  namespace?: string | undefined;
  /** From an earlier start; if its port is in use, another one is used. Absent: everything is new. */
  access?: Access | undefined;
}

/** Serves the dashboard of a cluster on loopback. */
export async function startDashboard(
  cluster: Pick<Cluster, 'api' | 'transport' | 'server' | 'hint'>,
  { port, namespace, access }: ServeOptions,
): Promise<Dashboard> {
  const ending = new AbortController();
  let host = '';
  const { hostName, secrets } = access ?? { hostName: createHostName(), secrets: createSecrets() };
  const watches = createWatches(cluster.api, namespace, ending.signal);
  let loading: ReturnType<typeof loadConsole> | undefined;
  const front = () => {
    loading ??= loadConsole();
    return loading;
  };
  const { signal } = ending;
  const app = createDashboard({ cluster, namespace, watches, host: () => host, secrets, front, signal });
  const create = () => {
    const server = createAdaptorServer({
      fetch: app.fetch,
      createServer,
      overrideGlobalObjects: false,
    }) as Server;
    limitEmptyLines(server);
    server.maxConnections = mostConnections;
    return server;
  };
  const remembered = access ? await listenOnLoopback(create, access.port).catch(() => undefined) : undefined;
  const listened = remembered ?? listenOnLoopback(create, port);
  const servers = await Promise.resolve(listened).catch((caught: unknown) => {
    const why = ArcError.from(caught).message;
    throw new Failure(
      exitCodes.no,
      `cannot listen on port ${port} (${why}): choose another port with --port`,
    );
  });
  const taken = portOf(servers[0]);
  host = `${hostName}${taken === 80 ? '' : `:${taken}`}`;
  return {
    url: `http://${host}/?token=${secrets.token}`,
    access: { hostName, port: taken, secrets },
    async close() {
      ending.abort();
      const closed = servers.map((server) => once(server, 'close'));
      for (const server of servers) server.close().closeAllConnections();
      await Promise.all(closed);
    },
  };
}
