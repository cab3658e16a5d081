import type { Metrics } from '#shared/telemetry';

/** What Prometheus' client libraries tell about their process. */
export function processMetrics(metrics: Metrics): void {
  const started = Date.now() / 1000 - process.uptime();
  metrics.gauge(
    { name: 'process_start_time_seconds', help: 'Start of the process, in seconds of the epoch.' },
    () => started,
  );
  metrics.gauge({ name: 'process_resident_memory_bytes', help: 'Resident memory.' }, () =>
    process.memoryUsage.rss(),
  );
  metrics.gauge({ name: 'process_cpu_seconds_total', help: 'User and system CPU time spent.' }, () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
}
