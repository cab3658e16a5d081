import type { Metrics } from '#shared/base/telemetry';

/** Runs a call to etcd and records it. @param key key or prefix of the call */
export type Observe = <T>(operation: Operation, key: string, call: () => Promise<T>) => Promise<T>;

type Operation = 'get' | 'list' | 'create' | 'update' | 'delete';

/** Same labels as k8s.io/apiserver 1.34 (storage/etcd3/metrics), for its dashboards. */
const labels = ['operation', 'group', 'resource'];
const buckets = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];

/** Records calls by operation, group and resource, which are parsed from keys such as `/registry/<group>/<resource>/…`. */
export function requestMetrics(metrics: Metrics): Observe {
  const duration = metrics.histogram({
    name: 'etcd_request_duration_seconds',
    help: 'Duration of requests to etcd, including retries, by operation and resource.',
    labels,
    buckets,
  });
  const total = metrics.counter({ name: 'etcd_requests_total', help: 'Requests to etcd.', labels });
  const errors = metrics.counter({
    name: 'etcd_request_errors_total',
    help: 'Failed requests to etcd.',
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
