/** The bridge as a program of its own, in a container. */
import { serve } from '@hono/node-server';
import * as z from 'zod';
import { readConfig } from '#shared/config';
import { ArcError } from '#shared/errors';
import { createKubeClient, inClusterConfig } from '#shared/kube';
import { createLogger, createMetrics } from '#shared/telemetry';
import { startBridge } from './bridge.ts';
import { createHealthApp } from './health.ts';

const settings = z.object({
  K_SINK: z.url({ error: 'expected the URL of the broker' }),
  PORT: z.coerce.number().int().min(0).max(65_535).default(8080),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
});

async function main(): Promise<void> {
  const config = readConfig(settings, process.env);
  const log = createLogger({ name: 'watch-bridge', level: config.LOG_LEVEL });
  const metrics = createMetrics();
  const control = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => control.abort());
  const { server, token } = inClusterConfig(process.env);
  const api = createKubeClient({ server, token, userAgent: 'arc-watch-bridge' });
  const bridge = startBridge({ api, sink: new URL(config.K_SINK), log, metrics, signal: control.signal });
  const http = serve({ fetch: createHealthApp(bridge, metrics).fetch, port: config.PORT });
  log.info({ sink: config.K_SINK, port: config.PORT }, 'watching');
  try {
    await bridge.done;
  } finally {
    http.close();
  }
}

main().catch((caught: unknown) => {
  const error = ArcError.from(caught);
  createLogger({ name: 'watch-bridge' }).fatal({ err: error }, error.message);
  process.exitCode = 1;
});
