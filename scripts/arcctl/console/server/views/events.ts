import type { KubeEvent } from '#shared/domain';
import type { EventRow } from '../../api.ts';

export function eventRow(event: KubeEvent): EventRow {
  const { involvedObject, type, reason = '', message = '', count = 1, metadata } = event;
  const { lastTimestamp, firstTimestamp, reportingComponent, source } = event;
  return {
    id: metadata.uid ?? metadata.name,
    at: lastTimestamp ?? firstTimestamp ?? metadata.creationTimestamp ?? '',
    isWarning: type === 'Warning',
    reason,
    message,
    count,
    kind: involvedObject.kind ?? '',
    namespace: involvedObject.namespace ?? metadata.namespace ?? '',
    name: involvedObject.name ?? '',
    component: reportingComponent || (source?.component ?? ''),
  };
}

const mostEvents = 2000;

/** Returns the newest Events of all ARC objects. */
export function eventRows(events: readonly KubeEvent[]): EventRow[] {
  return events
    .map(eventRow)
    .sort((a, b) => (a.at < b.at ? 1 : -1))
    .slice(0, mostEvents);
}
