import { expect, it } from 'vitest';
import { createMetrics } from '#shared/base/telemetry';
import { pauseMetrics } from './process-metrics.ts';

it('reports event loop delay and CPU time', async () => {
  const metrics = createMetrics();
  const stop = new AbortController();
  pauseMetrics(metrics, stop.signal);
  const value = (name: string) =>
    Number(new RegExp(`^event_loop_longest_${name}_seconds (\\S+)$`, 'm').exec(metrics.expose())?.[1]);
  expect([value('pause'), value('work')]).toEqual([0, 0]);
  const until = process.threadCpuUsage().user + 300_000;
  while (process.threadCpuUsage().user < until);
  await expect.poll(() => value('pause')).toBeGreaterThan(0.25);
  expect(value('work')).toBeGreaterThan(0.25);
  stop.abort();
});
