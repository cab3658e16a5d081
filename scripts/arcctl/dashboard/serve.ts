import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { ArcError } from '#shared/errors';
import { exitCodes, Failure } from '../core/failure.ts';
import type { Cluster } from '../core/session.ts';
import { createDashboard } from './app.ts';
import { createSecrets } from './guard.ts';
import { createWatches } from './watches.ts';

export interface Dashboard {
  /** With the token that lets its reader in. */
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
  const hosts = new Set<string>();
  const secrets = createSecrets();
  const watches = createWatches(cluster.api, namespace, ending.signal);
  const app = createDashboard({ cluster, watches, hosts, secrets, signal: ending.signal });
  const server = createAdaptorServer({ fetch: app.fetch, createServer, overrideGlobalObjects: false });
  server.maxConnections = mostConnections;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening').catch((caught: unknown) => {
    const why = ArcError.from(caught).message;
    throw new Failure(exitCodes.no, `cannot listen on port ${port} (${why}): choose another --port`);
  });
  const { port: taken } = server.address() as AddressInfo;
  const suffix = taken === 80 ? '' : `:${taken}`;
  for (const name of ['127.0.0.1', 'localhost']) hosts.add(`${name}${suffix}`);
  return {
    url: `http://127.0.0.1${suffix}/?token=${secrets.token}`,
    async close() {
      ending.abort();
      const closed = once(server, 'close');
      server.close();
      if ('closeAllConnections' in server) server.closeAllConnections();
      await closed;
    },
  };
}
