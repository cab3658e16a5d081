import type { Metrics } from '#shared/base/telemetry';
import type { KubeObject } from '../kinds/definition.ts';
import type { AdmissionPlugin, AdmissionRequest } from './plugin.ts';

/** The admission chain of a server. */
export interface Admission {
  /** Resolves with the mutated object, or the same object if no plug-in changes it. */
  mutate(request: AdmissionRequest): Promise<KubeObject | undefined>;
  validate(request: AdmissionRequest): Promise<void>;
}

/** Returns a chain that runs each stage of `plugins` in order, until the first rejection. */
export function createAdmission(plugins: readonly AdmissionPlugin[], metrics?: Metrics): Admission {
  const measured = metrics ? admissionMetrics(metrics) : <T>(_step: Step, run: () => Promise<T>) => run();
  const handlers = new Map<string, Handlers>();
  const handlersOf = (write: AdmissionRequest) => {
    const id = `${write.operation} ${write.kind.group} ${write.kind.kind} ${write.subResource}`;
    let known = handlers.get(id);
    if (!known) {
      const all = plugins.filter(({ handles }) => handles?.(write) ?? true);
      known = {
        mutating: all.filter(({ mutate }) => mutate),
        validating: all.filter(({ validate }) => validate),
      };
      handlers.set(id, known);
    }
    return known;
  };
  return {
    async mutate(request) {
      const { mutating } = handlersOf(request);
      if (mutating.length === 0) return request.object;
      const { operation } = request;
      return measured({ type: 'admit', operation }, async () => {
        let { object } = request;
        for (const plugin of mutating) {
          const step: Step = { type: 'admit', operation, name: plugin.name };
          const changed = await measured(step, async () => plugin.mutate?.({ ...request, object }));
          if (object !== undefined) object = changed ?? object;
        }
        return object;
      });
    },
    async validate(request) {
      const { validating } = handlersOf(request);
      if (validating.length === 0) return;
      const { operation } = request;
      await measured({ type: 'validate', operation }, async () => {
        for (const plugin of validating) {
          const step: Step = { type: 'validate', operation, name: plugin.name };
          await measured(step, async () => plugin.validate?.(request));
        }
      });
    },
  };
}

/** The plug-ins that handle an operation on a kind and subresource. Cached, because their number is bounded. */
interface Handlers {
  mutating: readonly AdmissionPlugin[];
  validating: readonly AdmissionPlugin[];
}

/** A measured step: a stage of one plug-in, or without a name the whole stage. */
interface Step {
  type: 'admit' | 'validate';
  operation: string;
  name?: string;
}

/** Buckets in seconds, as in k8s.io/apiserver, pkg/admission/metrics. */
const buckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5];

/** Returns a function that runs a step and records its duration and outcome. */
function admissionMetrics(metrics: Metrics): <T>(step: Step, run: () => Promise<T>) => Promise<T> {
  const stages = metrics.histogram({
    name: 'apiserver_admission_step_admission_duration_seconds',
    help: 'Duration of a stage of all plug-ins (admit: mutating, validate: validating).',
    labels: ['operation', 'rejected', 'type'],
    buckets,
  });
  const plugins = metrics.histogram({
    name: 'apiserver_admission_controller_admission_duration_seconds',
    help: 'Duration of a stage of one plug-in.',
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
