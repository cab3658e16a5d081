import { ArcError } from '#shared/base/errors';
import type { Metrics } from '#shared/base/telemetry';

/** Exponential buckets from 1 ms in seconds, as in k8s.io/apiserver, endpoints/filters/metrics.go. */
const buckets = Array.from({ length: 15 }, (_, index) => 0.001 * 2 ** index);

/** Runs `step` and records its duration and result. */
export type Measure<T> = (step: () => Promise<T>) => Promise<T>;

/** Measures authentication. Results: `success` (also anonymous), `failure` (invalid credential), `error` (not verified). */
export function authenticationMeasure<T>(metrics: Metrics): Measure<T> {
  const total = { name: 'authentication_attempts', help: 'Authenticated requests by result.' };
  return measure(metrics, total, 'authentication', {
    done: 'success',
    failed: (error) => (error.code === 'Unauthorized' ? 'failure' : 'error'),
  });
}

/** Measures authorization. Results: `allowed`, `denied`, `error`. */
export function authorizationMeasure<T>(metrics: Metrics): Measure<T> {
  const total = { name: 'authorization_attempts_total', help: 'Authorized requests by result.' };
  return measure(metrics, total, 'authorization', {
    done: 'allowed',
    failed: (error) => (error.code === 'Forbidden' ? 'denied' : 'error'),
  });
}

function measure<T>(
  metrics: Metrics,
  total: { name: string; help: string },
  stage: 'authentication' | 'authorization',
  results: { done: string; failed(error: ArcError): string },
): Measure<T> {
  const labels = ['result'];
  const attempts = metrics.counter({ ...total, labels });
  const duration = metrics.histogram({
    name: `${stage}_duration_seconds`,
    help: `Duration of the ${stage} of a request.`,
    labels,
    buckets,
  });
  return async (step) => {
    const started = performance.now();
    const record = (result: string) => {
      attempts.inc({ result });
      duration.observe((performance.now() - started) / 1000, { result });
    };
    try {
      const value = await step();
      record(results.done);
      return value;
    } catch (caught) {
      record(results.failed(ArcError.from(caught)));
      throw caught;
    }
  };
}
