import { readdirSync, readFileSync } from 'node:fs';
import type { Metrics } from '#shared/base/telemetry';

/** Registers the process metrics of Prometheus client libraries. File descriptors and virtual memory only on Linux. */
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
  metrics.gauge({ name: 'process_max_fds', help: 'Limit of open file descriptors.' }, () => {
    return numberAfter('/proc/self/limits', /^Max open files +(\d+)/m) || Number.POSITIVE_INFINITY;
  });
  metrics.gauge({ name: 'process_virtual_memory_bytes', help: 'Virtual memory.' }, () => {
    return numberAfter('/proc/self/status', /^VmSize:\s+(\d+) kB/m) * 1024;
  });
}

function numberAfter(file: string, pattern: RegExp): number {
  return Number(pattern.exec(readFileSync(file, 'utf8'))?.[1] ?? 0);
}

const tickMs = 20;
const windowMs = 30_000;

/**
 * Registers metrics of event loop lag: the delay of a timer, and the CPU time of this thread in between. A long delay with little CPU time
 * means that the machine ran other programs. Measures until `signal` is aborted.
 */
export function pauseMetrics(metrics: Metrics, signal: AbortSignal): void {
  const pauses = metrics.histogram({
    name: 'event_loop_pause_seconds',
    help: 'Delay of a 20 ms timer by the event loop.',
    buckets: [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5],
  });
  const pause = slidingMax();
  const work = slidingMax();
  metrics.gauge(
    { name: 'event_loop_longest_pause_seconds', help: 'Longest pause of the event loop in the last minute.' },
    pause.read,
  );
  metrics.gauge(
    {
      name: 'event_loop_longest_work_seconds',
      help: 'Most CPU time of the main thread between two ticks in the last minute.',
    },
    work.read,
  );
  let before = { at: performance.now(), work: workSeconds() };
  const timer = setInterval(() => {
    const now = { at: performance.now(), work: workSeconds() };
    const late = Math.max(0, now.at - before.at - tickMs) / 1000;
    pauses.observe(late);
    pause.note(late, now.at);
    work.note(now.work - before.work, now.at);
    before = now;
  }, tickMs).unref();
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
}

/** The maximum of the current and the previous window. */
function slidingMax(): { note(value: number, at: number): void; read(): number } {
  let [previous, current, since] = [0, 0, performance.now()];
  return {
    note(value, at) {
      if (at - since > windowMs) [previous, current, since] = [current, 0, at];
      current = Math.max(current, value);
    },
    read: () => Math.max(previous, current),
  };
}

function workSeconds(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1e6;
}
