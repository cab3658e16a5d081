import type { Metrics } from '#shared/telemetry';

interface Gauges {
  depth: () => number;
  unsettled: () => number;
  gaps: () => number;
  relists: () => number;
}

const none = () => 0;

/** The metrics of the bridge: delay and number of pending wakes, retries, and events that were missed. */
export function bridgeMetrics(metrics: Metrics) {
  const lag = metrics.histogram({
    name: 'arc_bridge_lag_seconds',
    help: 'Time from when a wake became due until the broker accepted it.',
  });
  const deliveries = metrics.counter({
    name: 'arc_bridge_deliveries_total',
    help: 'Wakes that were delivered or refused, by outcome.',
    labels: ['outcome'],
  });
  const retries = metrics.counter({
    name: 'arc_bridge_retries_total',
    help: 'Delivery attempts that failed and are retried.',
  });
  const found = metrics.counter({
    name: 'arc_bridge_resyncs_found_work_total',
    help: 'Objects that changed after a resync woke them, because an event was lost.',
  });
  const observe = ({ depth, unsettled, gaps, relists }: Gauges): void => {
    metrics.gauge({ name: 'arc_bridge_depth', help: 'Wakes that are pending or under way.' }, depth);
    metrics.gauge({ name: 'arc_bridge_unsettled', help: 'Objects that are not settled.' }, unsettled);
    metrics.gauge(
      { name: 'arc_bridge_gaps', help: 'Times the history of a watch was gone, since the start.' },
      gaps,
    );
    metrics.gauge(
      { name: 'arc_bridge_relists', help: 'Lists after the first one, since the start.' },
      relists,
    );
  };
  return {
    delivered(outcome: string, lagMs: number): void {
      deliveries.inc({ outcome });
      lag.observe(Math.max(0, lagMs) / 1000);
    },
    retried: () => retries.inc(),
    foundWork: () => found.inc(),
    /** Sets the sources of the gauges. */
    observe,
    /** Lets go of the sources: the registry outlives the bridge. */
    release: () => observe({ depth: none, unsettled: none, gaps: none, relists: none }),
  };
}
