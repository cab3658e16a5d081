import type { Metrics } from '#shared/telemetry';

/** What the bridge counts: how late wakes are, how many wait, what was missed and made good. */
export function bridgeMetrics(metrics: Metrics) {
  const lag = metrics.histogram({
    name: 'arc_bridge_lag_seconds',
    help: 'From the time a wake was due until the broker took it.',
  });
  const deliveries = metrics.counter({
    name: 'arc_bridge_deliveries_total',
    help: 'Wakes that ended, by outcome.',
    labels: ['outcome'],
  });
  const retries = metrics.counter({
    name: 'arc_bridge_retries_total',
    help: 'Deliveries that failed and are tried again.',
  });
  const found = metrics.counter({
    name: 'arc_bridge_resyncs_found_work_total',
    help: 'Objects that changed after a resync had woken them: an event had been lost.',
  });
  return {
    delivered(outcome: string, lagMs: number): void {
      deliveries.inc({ outcome });
      lag.observe(Math.max(0, lagMs) / 1000);
    },
    retried: () => retries.inc(),
    foundWork: () => found.inc(),
    /** What is read when somebody asks. */
    observe(read: {
      depth: () => number;
      unsettled: () => number;
      gaps: () => number;
      relists: () => number;
    }): void {
      metrics.gauge({ name: 'arc_bridge_depth', help: 'Wakes waiting or under way.' }, read.depth);
      metrics.gauge({ name: 'arc_bridge_unsettled', help: 'Objects that are not settled.' }, read.unsettled);
      metrics.gauge(
        { name: 'arc_bridge_gaps', help: 'Times the history needed was gone, since the start.' },
        read.gaps,
      );
      metrics.gauge(
        { name: 'arc_bridge_relists', help: 'Lists after the first, since the start.' },
        read.relists,
      );
    },
  };
}
