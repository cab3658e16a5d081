import type { Metrics } from '#shared/base/telemetry';
import type { StoreEvent } from '../interface/store.ts';

/** The metrics of a cache, under the names of kube-apiserver (storage/cacher/metrics/metrics.go). */
export interface CacheMetrics {
  loaded(): void;
  received(events: readonly StoreEvent[]): void;
  /** A consistent read: how long it waited for memory to be fresh, and whether the store had to answer in the end. */
  read(seconds: number, fresh: boolean): void;
}

/** `facts` are asked for at every exposition. */
export function cacheMetrics(
  metrics: Metrics,
  facts: { revision: () => number; capacity: number },
): CacheMetrics {
  const labels = ['group', 'resource'];
  const loads = metrics.counter({
    name: 'apiserver_watch_cache_initializations_total',
    help: 'How often the watch cache was loaded from the store.',
  });
  const received = metrics.counter({
    name: 'apiserver_watch_cache_events_received_total',
    help: 'Events that the watch cache received from the store.',
    labels,
  });
  const dispatched = metrics.counter({
    name: 'apiserver_watch_cache_events_dispatched_total',
    help: 'Events that the watch cache handed on to those who watch.',
    labels,
  });
  const waits = metrics.histogram({
    name: 'apiserver_watch_cache_read_wait_seconds',
    help: 'How long reads waited for the watch cache to be fresh.',
    buckets: [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3],
  });
  const reads = metrics.counter({
    name: 'apiserver_watch_cache_consistent_read_total',
    help: 'Consistent reads: from the watch cache, or from the store where the cache was late (fallback).',
    labels: ['success', 'fallback'],
  });
  metrics.gauge(
    {
      name: 'apiserver_watch_cache_resource_version',
      help: 'The revision that the watch cache has come to.',
    },
    facts.revision,
  );
  metrics
    .gauge({ name: 'apiserver_watch_cache_capacity', help: 'Most events of the past that are kept.' })
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
