import { describe, expect, it } from 'vitest';
import { createMetrics } from '#shared/telemetry';
import { createHealthApp } from './health.ts';

function app(ready: boolean, lastHeard: number) {
  return createHealthApp({ ready, lastHeard: () => lastHeard }, createMetrics(), () => 1_000_000);
}

describe('createHealthApp', () => {
  it('is ready once every kind has been listed', async () => {
    expect((await app(false, 0).request('/health/readiness')).status).toBe(503);
    expect((await app(true, 0).request('/health/readiness')).status).toBe(200);
  });

  it('is alive while the watches hear something, and before the first list', async () => {
    expect((await app(true, 999_000).request('/health/liveness')).status).toBe(200);
    expect((await app(false, Number.POSITIVE_INFINITY).request('/health/liveness')).status).toBe(200);
    expect((await app(true, 1000).request('/health/liveness')).status).toBe(503);
  });

  it('exposes metrics as text', async () => {
    const metrics = createMetrics();
    metrics.counter({ name: 'x_total', help: 'x' }).inc();
    const answer = await createHealthApp({ ready: true, lastHeard: () => 0 }, metrics).request('/metrics');
    expect(await answer.text()).toContain('x_total 1');
  });
});
