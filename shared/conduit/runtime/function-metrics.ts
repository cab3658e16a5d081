import type { Metrics } from '#shared/base/telemetry';

export interface FunctionMetrics {
  /** An event was passed to the handler; `queued` is its age, in seconds. */
  invoked(step: string, queued: number): void;
  /** A request failed with this code. */
  failed(code: string): void;
  /** The handler ran for this long, in seconds. */
  took(seconds: number): void;
  /** Time from the start of the process (or of the server in it) to readiness, in seconds. */
  started(seconds: number): void;
}

/** Creates the metrics of Knative's function runtime, with its names; times in seconds. */
export function createFunctionMetrics(metrics: Metrics, name: string): FunctionMetrics {
  const faas = { faas_name: name };
  const labels = ['faas_name'];
  const invocations = metrics.counter({
    name: 'faas_invocations',
    help: 'events given to the handler',
    labels: ['faas_name', 'step'],
  });
  const errors = metrics.counter({
    name: 'faas_errors',
    help: 'requests that failed',
    labels: ['faas_name', 'code'],
  });
  const latency = metrics.histogram({
    name: 'faas_execution_latency',
    help: 'seconds in the handler',
    labels,
  });
  const queue = metrics.histogram({
    name: 'faas_queue_latency',
    help: 'seconds from the time of an event to its arrival at the handler',
    labels,
  });
  const cold = metrics.gauge({
    name: 'faas_cold_start_latency',
    help: 'seconds from the start until ready',
    labels,
  });
  return {
    invoked(step, queued) {
      invocations.inc({ ...faas, step });
      queue.observe(Math.max(0, queued), faas);
    },
    failed: (code) => errors.inc({ ...faas, code }),
    took: (seconds) => latency.observe(seconds, faas),
    started: (seconds) => cold.set(seconds, faas),
  };
}
