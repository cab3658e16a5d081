/** The bridge as a program in a container: one replica leads (with shards: one per shard), the others stand by. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { serve } from '@hono/node-server';
import * as z from 'zod';
import { steadyClock } from '#shared/base/async';
import { readConfig } from '#shared/base/config';
import { ArcError } from '#shared/base/errors';
import { createLogger, createMetrics } from '#shared/base/telemetry';
import { limitHeapGrowth } from '#shared/conduit/runtime';
import { conduitNamespace } from '#shared/domain';
import { createKubeClient, fileToken, programAccess } from '#shared/kubernetes/client';
import type { HttpSink } from './delivery/sink.ts';
import { sinkAuthorities } from './delivery/trust.ts';
import { createHealthApp } from './health.ts';
import { runReplica } from './replica.ts';

const settings = z.object({
  K_SINK: z.url({ protocol: /^https?$/, error: 'expected the http(s) URL of the broker' }),
  K_CA_CERTS: z.string().optional(),
  ARC_SINK_TOKEN_FILE: z.string().optional(),
  PORT: z.coerce.number().int().min(0).max(65_535).default(8080),
  ARC_NAMESPACE: z.string().default(conduitNamespace),
  ARC_BRIDGE_SHARDS: z.coerce.number().int().min(1).max(64).default(1),
  ARC_BRIDGE_MOST_SHARDS: z.coerce.number().int().min(1).optional(),
  ARC_WATCH_SECRETS: z.enum(['true', 'false']).default('false'),
  ARC_WATCH_SCHEDULES: z.enum(['true', 'false']).default('true'),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
});

async function main(): Promise<void> {
  limitHeapGrowth();
  const config = readConfig(settings, process.env);
  const log = createLogger({ name: 'watch-bridge', level: config.LOG_LEVEL });
  const metrics = createMetrics();
  const control = new AbortController();
  // SIGTERM may arrive twice: a restarted kubelet repeats it.
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => control.abort());
  const sink: HttpSink = {
    url: new URL(config.K_SINK),
    authorities: sinkAuthorities(config.K_CA_CERTS),
    ...(config.ARC_SINK_TOKEN_FILE !== undefined && { token: fileToken(config.ARC_SINK_TOKEN_FILE) }),
  };
  const api = createKubeClient({ ...(await programAccess(process.env)), userAgent: 'arc-watch-bridge' });

  const replica = runReplica({
    api,
    sink,
    log,
    metrics,
    steadyClock,
    signal: control.signal,
    namespace: config.ARC_NAMESPACE,
    identity: `${hostname()}_${randomUUID()}`,
    shards: config.ARC_BRIDGE_SHARDS,
    mostShards: config.ARC_BRIDGE_MOST_SHARDS,
    watchSecrets: config.ARC_WATCH_SECRETS === 'true',
    watchSchedules: config.ARC_WATCH_SCHEDULES === 'true',
  });
  const health = createHealthApp(replica, metrics);
  const http = serve({ fetch: health.fetch, port: config.PORT }, ({ port }) =>
    log.info({ sink: config.K_SINK, port }, 'started'),
  );
  try {
    await replica.done;
  } finally {
    http.close();
    if ('closeAllConnections' in http) http.closeAllConnections();
  }
}

main().catch((caught: unknown) => {
  const error = ArcError.from(caught);
  createLogger({ name: 'watch-bridge' }).fatal({ err: error }, error.message);
  process.exitCode = 1;
});
