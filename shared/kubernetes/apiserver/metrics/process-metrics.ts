import { readdirSync, readFileSync } from 'node:fs';
import type { Metrics } from '#shared/base/telemetry';

/** The process metrics of Prometheus' client libraries; file descriptors and virtual memory only on Linux. */
export function processMetrics(metrics: Metrics): void {
  const started = Date.now() / 1000 - process.uptime();
  metrics.gauge(
    { name: 'process_start_time_seconds', help: 'Start of the process, in seconds of the epoch.' },
    () => started,
  );
  metrics.gauge({ name: 'process_resident_memory_bytes', help: 'Resident memory.' }, () =>
    process.memoryUsage.rss(),
  );
  metrics.counter({ name: 'process_cpu_seconds_total', help: 'User and system CPU time spent.' }, () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  if (process.platform !== 'linux') return;
  metrics.gauge({ name: 'process_open_fds', help: 'Open file descriptors.' }, () => {
    return readdirSync('/proc/self/fd').length;
  });
  metrics.gauge({ name: 'process_max_fds', help: 'File descriptors that may be open.' }, () => {
    return numberAfter('/proc/self/limits', /^Max open files +(\d+)/m) || Number.POSITIVE_INFINITY;
  });
  metrics.gauge({ name: 'process_virtual_memory_bytes', help: 'Virtual memory.' }, () => {
    return numberAfter('/proc/self/status', /^VmSize:\s+(\d+) kB/m) * 1024;
  });
}

function numberAfter(file: string, pattern: RegExp): number {
  return Number(pattern.exec(readFileSync(file, 'utf8'))?.[1] ?? 0);
}
