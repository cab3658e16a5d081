import type { Metrics } from '#shared/base/telemetry';

/** The step to measure: a stage of one plug-in, or without a name the whole stage. */
export interface Step {
  type: 'admit' | 'validate';
  operation: string;
  name?: string;
}

/** Seconds, as in kube-apiserver (k8s.io/apiserver, pkg/admission/metrics). */
const buckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5];

/** Returns a function that runs a step and records its duration and whether it rejected. */
export function admissionMetrics(metrics: Metrics): <T>(step: Step, run: () => Promise<T>) => Promise<T> {
  const stages = metrics.histogram({
    name: 'apiserver_admission_step_admission_duration_seconds',
    help: 'Time that all plug-ins of a stage took (admit: mutating, validate: validating).',
    labels: ['operation', 'rejected', 'type'],
    buckets,
  });
  const plugins = metrics.histogram({
    name: 'apiserver_admission_controller_admission_duration_seconds',
    help: 'Time that one plug-in took.',
    labels: ['name', 'operation', 'rejected', 'type'],
    buckets,
  });
  return async ({ name, operation, type }, run) => {
    const started = performance.now();
    let rejected = 'true';
    try {
      const result = await run();
      rejected = 'false';
      return result;
    } finally {
      const seconds = (performance.now() - started) / 1000;
      if (name === undefined) stages.observe(seconds, { operation, rejected, type });
      else plugins.observe(seconds, { name, operation, rejected, type });
    }
  };
}
