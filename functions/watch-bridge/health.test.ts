import { describe, expect, it } from 'vitest';
import { createMetrics } from '#shared/base/telemetry';
import { createHealthApp } from './health.ts';

async function status(path: string, ready: boolean, silentMs: number): Promise<number> {
  const app = createHealthApp({ ready: () => ready, silentMs: () => silentMs }, createMetrics());
  return (await app.request(path)).status;
}

describe('createHealthApp', () => {
  it('reports whether the replica is ready', async () => {
    expect(await status('/health/readiness', false, 0)).toBe(503);
    expect(await status('/health/readiness', true, 0)).toBe(200);
  });

  it('is alive while every loop makes progress, ready or not', async () => {
    expect(await status('/health/liveness', false, 599_000)).toBe(200);
    expect(await status('/health/liveness', true, 601_000)).toBe(503);
  });

  it('exposes metrics as text', async () => {
    const metrics = createMetrics();
    metrics.counter({ name: 'x_total', help: 'x' }).inc();
    const app = createHealthApp({ ready: () => true, silentMs: () => 0 }, metrics);
    expect(await (await app.request('/metrics')).text()).toContain('x_total 1');
  });
});
