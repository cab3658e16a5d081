import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { limitEmptyLines } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { exitCodes, Failure } from '../core/failure.ts';
import type { Cluster } from '../core/session.ts';
import { createDashboard } from './app.ts';
import { createHostName, createSecrets } from './guard.ts';
import { listenOnLoopback, portOf } from './loopback.ts';
import { createWatches } from './watches.ts';

export interface Dashboard {
  /** Has a host name of this start, which browsers resolve to loopback, and the token that lets its reader in. */
  url: string;
  /** Ends live updates, watches and connections. */
  close(): Promise<void>;
}

/** It is for one person. */
const mostConnections = 100;

/** Serves the dashboard of a cluster on loopback. `namespace`: this one only; absent: all. `port`: 0 takes any that is free. */
export async function startDashboard(
  cluster: Pick<Cluster, 'api' | 'transport' | 'server'>,
  { port, namespace }: { port: number; namespace?: string | undefined },
): Promise<Dashboard> {
  const ending = new AbortController();
  let host = '';
  const secrets = createSecrets();
  const watches = createWatches(cluster.api, namespace, ending.signal);
  const app = createDashboard({ cluster, watches, host: () => host, secrets, signal: ending.signal });
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
  const servers = await listenOnLoopback(create, port).catch((caught: unknown) => {
    const why = ArcError.from(caught).message;
    throw new Failure(exitCodes.no, `cannot listen on port ${port} (${why}): choose another --port`);
  });
  const taken = portOf(servers[0]);
  host = `${createHostName()}${taken === 80 ? '' : `:${taken}`}`;
  return {
    url: `http://${host}/?token=${secrets.token}`,
    async close() {
      ending.abort();
      const closed = servers.map((server) => once(server, 'close'));
      for (const server of servers) server.close().closeAllConnections();
      await Promise.all(closed);
    },
  };
}
