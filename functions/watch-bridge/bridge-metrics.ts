import type { Metrics } from '#shared/base/telemetry';
import type { Shard } from '#shared/domain';

interface Gauges {
  depth: () => number;
  due: () => number;
  unannounced: () => number;
  gaps: () => number;
  relists: () => number;
}

const none = () => 0;

/** Returns the labels of a shard's metrics: none if there is only one shard. */
export function shardLabels({ index, of }: Shard): Record<string, number> {
  return of === 1 ? {} : { shard: index };
}

/** The metrics of the bridge: delay and number of pending events, retries, and repairs by the sweep. */
export function bridgeMetrics(metrics: Metrics, shard: Shard) {
  const own = shardLabels(shard);
  const labels = Object.keys(own);
  const lag = metrics.histogram({
    name: 'arc_bridge_lag_seconds',
    help: 'Time from when an event became due until it was handed over: until the attempt began that the broker answered.',
    labels,
  });
  const handling = metrics.histogram({
    name: 'arc_bridge_handling_seconds',
    help: 'Time until the broker answered. The in-memory one answers when the function has, cold start included.',
    labels,
  });
  const counter = (name: string, help: string, ...more: string[]) =>
    metrics.counter({ name, help, labels: [...labels, ...more] });
  const refused = counter(
    'arc_bridge_dead_letters_total',
    'Objects of which a function refused an event every time, by kind. Unlike arc_dead_letters_total it does not end with a pod that scales to zero.',
    'kind',
  );
  const outcomes = 'that were delivered or refused, by outcome.';
  const deliveries = counter('arc_bridge_deliveries_total', `Events ${outcomes}`, 'outcome');
  const announcements = counter('arc_bridge_domain_events_total', `Domain events ${outcomes}`, 'outcome');
  const retries = counter('arc_bridge_retries_total', 'Delivery attempts that failed and are retried.');
  const found = counter(
    'arc_bridge_repairs_total',
    'Objects of which a sweep found a duty that no change had shown.',
  );
  const observe = ({ depth, due, unannounced, gaps, relists }: Gauges): void => {
    const gauge = (name: string, help: string, read: () => number) =>
      metrics.gauge({ name, help, labels }, read, own);
    gauge('arc_bridge_depth', 'Events that are pending or under way.', depth);
    gauge('arc_bridge_due', 'Duties that are due: what functions have to do now.', due);
    gauge('arc_bridge_unannounced', 'Domain events that are pending or under way.', unannounced);
    gauge('arc_bridge_gaps', 'Times the history of a watch was gone, since the start.', gaps);
    gauge('arc_bridge_relists', 'Lists after the first one, since the start.', relists);
  };
  return {
    delivered(outcome: string, lagMs: number, attemptMs: number): void {
      deliveries.inc({ ...own, outcome });
      lag.observe(Math.max(0, lagMs) / 1000, own);
      handling.observe(Math.max(0, attemptMs) / 1000, own);
    },
    deadLetter: (kind: string) => refused.inc({ ...own, kind }),
    announced: (outcome: string) => announcements.inc({ ...own, outcome }),
    retried: () => retries.inc(own),
    repaired: () => found.inc(own),
    /** Sets the sources of the gauges. */
    observe,
    /** Detaches the sources: the registry outlives the bridge. */
    release: () => observe({ depth: none, due: none, unannounced: none, gaps: none, relists: none }),
  };
}
