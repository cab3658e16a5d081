import type { Metrics } from '#shared/base/telemetry';
import type { StoreEvent } from '../interface/store.ts';

/** The metrics of the watch cache, under the names of kube-apiserver (storage/cacher/metrics/metrics.go). */
export interface CacheMetrics {
  loaded(): void;
  received(events: readonly StoreEvent[]): void;
  /** Records a consistent read: how long it waited for the cache, and whether the cache became fresh in time. */
  read(seconds: number, fresh: boolean): void;
}

/** @param facts evaluated at every exposition */
export function cacheMetrics(
  metrics: Metrics,
  facts: { revision: () => number; capacity: number },
): CacheMetrics {
  const labels = ['group', 'resource'];
  const loads = metrics.counter({
    name: 'apiserver_watch_cache_initializations_total',
    help: 'Number of times the watch cache was loaded from the store.',
  });
  const received = metrics.counter({
    name: 'apiserver_watch_cache_events_received_total',
    help: 'Events that the watch cache received from the store.',
    labels,
  });
  const dispatched = metrics.counter({
    name: 'apiserver_watch_cache_events_dispatched_total',
    help: 'Events that the watch cache dispatched to watches.',
    labels,
  });
  const waits = metrics.histogram({
    name: 'apiserver_watch_cache_read_wait_seconds',
    help: 'Time that reads waited for the watch cache to become fresh.',
    buckets: [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3],
  });
  const reads = metrics.counter({
    name: 'apiserver_watch_cache_consistent_read_total',
    help: 'Consistent reads: served from the watch cache, or from the store if the cache was stale (fallback).',
    labels: ['success', 'fallback'],
  });
  metrics.gauge(
    {
      name: 'apiserver_watch_cache_resource_version',
      help: 'The revision of the watch cache.',
    },
    facts.revision,
  );
  metrics
    .gauge({
      name: 'apiserver_watch_cache_capacity',
      help: 'Maximum number of events in the history of the watch cache.',
    })
    .set(facts.capacity);
  return {
    loaded: () => loads.inc(),
    received(events) {
      for (const { key } of events) {
        const [, , group = '', resource = ''] = key.split('/');
        received.inc({ group, resource });
        dispatched.inc({ group, resource });
      }
    },
    read(seconds, fresh) {
      waits.observe(seconds);
      reads.inc({ success: String(fresh), fallback: String(!fresh) });
    },
  };
}
