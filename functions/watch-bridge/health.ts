import { Hono } from 'hono';
import { type Metrics, metricsContentType } from '#shared/telemetry';

/** Every loop gets on at least every three and a half minutes, whether its server answers or not; this is well beyond. */
const silenceMs = 10 * 60_000;

export interface Health {
  /** A leader that has listed every kind, or a standby that sees who leads. */
  ready(): boolean;
  /** ms since the loop furthest behind last got on. */
  silentMs(): number;
}

/** `/health/liveness`: no loop hangs; an API server that is away is no reason to start anew. `/health/readiness`, `/metrics`. */
export function createHealthApp({ ready, silentMs }: Health, metrics: Metrics): Hono {
  const app = new Hono();
  app.get('/health/liveness', (context) =>
    silentMs() > silenceMs
      ? context.text('a loop has not got on for more than ten minutes', 503)
      : context.text('ok'),
  );
  app.get('/health/readiness', (context) =>
    ready()
      ? context.text('ok')
      : context.text('no Lease seen, or leading without every kind listed yet', 503),
  );
  app.get('/metrics', (context) =>
    context.body(metrics.expose(), 200, { 'content-type': metricsContentType }),
  );
  return app;
}
