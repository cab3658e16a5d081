import { Hono } from 'hono';
import { type Metrics, metricsContentType } from '#shared/base/telemetry';

/** Every loop makes progress within three and a half minutes, whether or not its server answers. */
const maxSilenceMs = 10 * 60_000;

export interface Health {
  /** For every shard: true for a leader that has listed every kind, and for a standby that has seen the holder of the Lease. */
  ready(): boolean;
  /** ms since the slowest loop last made progress. */
  silentMs(): number;
}

/**
 * Serves `/health/liveness` (no loop hangs; an unavailable API server is not a failure), `/health/readiness` and `/metrics`.
 */
export function createHealthApp({ ready, silentMs }: Health, metrics: Metrics): Hono {
  const app = new Hono();
  app.get('/health/liveness', (context) =>
    silentMs() > maxSilenceMs
      ? context.text('a loop has made no progress for more than ten minutes', 503)
      : context.text('ok'),
  );
  app.get('/health/readiness', (context) =>
    ready()
      ? context.text('ok')
      : context.text('no Lease observed yet, or leading before every kind is listed', 503),
  );
  app.get('/metrics', (context) =>
    context.body(metrics.expose(), 200, { 'content-type': metricsContentType }),
  );
  return app;
}
