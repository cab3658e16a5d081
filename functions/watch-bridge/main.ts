/** The bridge as a program, in a container: one of its replicas leads, the others stand by. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { serve } from '@hono/node-server';
import * as z from 'zod';
import { steadyClock } from '#shared/async';
import { readConfig } from '#shared/config';
import { conduitNamespace } from '#shared/domain';
import { ArcError } from '#shared/errors';
import { createKubeClient, fileToken, programAccess } from '#shared/kube';
import { createLogger, createMetrics } from '#shared/telemetry';
import { type Bridge, startBridge } from './bridge.ts';
import type { Sink } from './delivery/sink.ts';
import { sinkAuthorities } from './delivery/trust.ts';
import { runElection } from './election/election.ts';
import { createHealthApp } from './health.ts';

const settings = z.object({
  K_SINK: z.url({ protocol: /^https?$/, error: 'expected the http(s) URL of the broker' }),
  K_CA_CERTS: z.string().optional(),
  ARC_SINK_TOKEN_FILE: z.string().optional(),
  PORT: z.coerce.number().int().min(0).max(65_535).default(8080),
  ARC_NAMESPACE: z.string().default(conduitNamespace),
  ARC_WATCH_SECRETS: z.enum(['true', 'false']).default('false'),
  ARC_WATCH_SCHEDULES: z.enum(['true', 'false']).default('true'),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
});

async function main(): Promise<void> {
  const config = readConfig(settings, process.env);
  const log = createLogger({ name: 'watch-bridge', level: config.LOG_LEVEL });
  const metrics = createMetrics();
  const control = new AbortController();
  // SIGTERM may arrive twice: a restarted kubelet repeats it.
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => control.abort());
  const sink: Sink = {
    url: new URL(config.K_SINK),
    authorities: sinkAuthorities(config.K_CA_CERTS),
    ...(config.ARC_SINK_TOKEN_FILE !== undefined && { token: fileToken(config.ARC_SINK_TOKEN_FILE) }),
  };
  const api = createKubeClient({ ...(await programAccess(process.env)), userAgent: 'arc-watch-bridge' });

  let bridge: Bridge | undefined;
  const election = runElection({
    api,
    lease: { namespace: config.ARC_NAMESPACE, name: 'watch-bridge' },
    identity: `${hostname()}_${randomUUID()}`,
    clock: steadyClock,
    log,
    signal: control.signal,
    async lead({ signal, holds }) {
      const watchSecrets = config.ARC_WATCH_SECRETS === 'true';
      const watchSchedules = config.ARC_WATCH_SCHEDULES === 'true';
      bridge = startBridge({
        ...{ api, sink, log, metrics, signal, watchSecrets, watchSchedules },
        maySend: holds,
      });
      try {
        await bridge.done;
      } finally {
        bridge = undefined;
      }
    },
  });
  metrics.gauge({ name: 'arc_bridge_leader', help: '1 while this replica leads.' }, () =>
    election.role === 'leader' ? 1 : 0,
  );

  const health = createHealthApp(
    {
      ready: () => bridge?.ready ?? election.role === 'standby',
      silentMs: () =>
        Math.max(steadyClock.now() - election.lastTurn, bridge ? Date.now() - bridge.lastTurn() : 0),
    },
    metrics,
  );
  const http = serve({ fetch: health.fetch, port: config.PORT }, ({ port }) =>
    log.info({ sink: config.K_SINK, port }, 'started'),
  );
  try {
    await election.done;
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
