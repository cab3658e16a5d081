import { annotations, isForceOwed, type Order } from '#shared/domain';

/** Whether an Order has ended, and how. `open`: it has not, or something was asked of it that its status does not answer yet. */
export type Standing = 'open' | 'succeeded' | 'ended badly';

/**
 * Where an Order stands. An edit, a force and a retry are answered some time after they were asked for; until then the status shows an
 * end of before. `wasOpen`: it was seen without an end since the caller began to look, so one that it shows now is new.
 */
export function standingOf(order: Order, wasOpen = false): Standing {
  const { metadata, status = {} } = order;
  const { phase } = status;
  if (!hasEnd(order) || status.observedGeneration !== metadata.generation) return 'open';
  if (isAwaited(order, wasOpen)) return 'open';
  return phase === 'Succeeded' ? 'succeeded' : 'ended badly';
}

/** True for an Order that shows an end, were it one of before. */
export function hasEnd({ status }: Pick<Order, 'status'>): boolean {
  return ['Succeeded', 'Failed', 'Cancelled'].includes(status?.phase ?? '');
}

/** The Orders that were seen unfinished. */
export interface Openings {
  see(order: Order): void;
  has(order: Order): boolean;
}

export function createOpenings(): Openings {
  const uids = new Set<string | undefined>();
  return {
    see(order) {
      if (!hasEnd(order)) uids.add(order.metadata.uid);
    },
    has: ({ metadata }) => uids.has(metadata.uid),
  };
}

function isAwaited(order: Order, wasOpen: boolean): boolean {
  const { metadata, status = {} } = order;
  if (isForceOwed(order)) return true;
  const retryAt = Number(metadata.annotations?.[annotations.retryAt] ?? 0) * 1000;
  // The server dates a retry at or after the ends that it is about (in whole seconds); a success has nothing to retry.
  const ended = Date.parse(status.completionTime ?? '') || 0;
  return !wasOpen && status.phase === 'Failed' && retryAt >= ended && ended > 0;
}
