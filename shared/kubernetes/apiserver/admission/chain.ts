import type { Metrics } from '#shared/base/telemetry';
import type { KubeObject } from '../kinds/definition.ts';
import { admissionMetrics, type Step } from './admission-metrics.ts';
import type { AdmissionPlugin, AdmissionRequest } from './plugin.ts';

/** All plug-ins of a server as one. */
export interface Admission {
  /** Resolves with the object as changed, or the same object where no plug-in changed it. */
  mutate(request: AdmissionRequest): Promise<KubeObject | undefined>;
  validate(request: AdmissionRequest): Promise<void>;
}

/** Runs the stages of `plugins` in order; the first rejection ends a stage. */
export function createAdmission(plugins: readonly AdmissionPlugin[], metrics?: Metrics): Admission {
  const mutating = plugins.filter((plugin) => plugin.mutate !== undefined);
  const validating = plugins.filter((plugin) => plugin.validate !== undefined);
  const measured = metrics ? admissionMetrics(metrics) : <T>(_step: Step, run: () => Promise<T>) => run();
  return {
    async mutate(request) {
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
