import type { Metrics } from '#shared/base/telemetry';

/** Runs a call to etcd about a key or prefix and counts it; `operation` as the Kubernetes API server names them. */
export type Observe = <T>(operation: Operation, key: string, call: () => Promise<T>) => Promise<T>;

type Operation = 'get' | 'list' | 'create' | 'update' | 'delete';

/** Those of k8s.io/apiserver 1.34 (storage/etcd3/metrics), for the same dashboards. */
const labels = ['operation', 'group', 'resource'];
const buckets = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];

/** Counts calls by what they do and whose objects they are about: keys are `/registry/<group>/<resource>/…`. */
export function requestMetrics(metrics: Metrics): Observe {
  const duration = metrics.histogram({
    name: 'etcd_request_duration_seconds',
    help: 'Time of requests to etcd, repetitions included, by operation and kind of object.',
    labels,
    buckets,
  });
  const total = metrics.counter({ name: 'etcd_requests_total', help: 'Requests to etcd.', labels });
  const errors = metrics.counter({
    name: 'etcd_request_errors_total',
    help: 'Requests that failed.',
    labels,
  });
  return async (operation, key, call) => {
    const [, , group = '', resource = ''] = key.split('/', 4);
    const of = { operation, group: group === 'core' ? '' : group, resource };
    const began = performance.now();
    try {
      return await call();
    } catch (caught) {
      errors.inc(of);
      throw caught;
    } finally {
      total.inc(of);
      duration.observe((performance.now() - began) / 1000, of);
    }
  };
}
