import { Hono } from 'hono';
import { type Metrics, metricsContentType } from '#shared/telemetry';
import type { Bridge } from './bridge.ts';

/** A watch says something at least every three minutes, bookmarks included, or is opened anew; this is well beyond. */
const silenceMs = 10 * 60_000;

/** `/health/liveness`: the watches make progress. `/health/readiness`: every kind was listed. `/metrics`. */
export function createHealthApp(
  bridge: Pick<Bridge, 'ready' | 'lastHeard'>,
  metrics: Metrics,
  now: () => number = Date.now,
): Hono {
  const app = new Hono();
  app.get('/health/liveness', (context) =>
    now() - bridge.lastHeard() > silenceMs
      ? context.text('a watch has been silent for more than ten minutes', 503)
      : context.text('ok'),
  );
  app.get('/health/readiness', (context) =>
    bridge.ready ? context.text('ok') : context.text('not every kind has been listed yet', 503),
  );
  app.get('/metrics', (context) =>
    context.body(metrics.expose(), 200, { 'content-type': metricsContentType }),
  );
  return app;
}
