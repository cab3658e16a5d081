import { annotations, isForceOwed, type Order } from '#shared/domain';

/** Whether an Order has ended, and how. `open`: it has not ended, or its status does not reflect a pending request yet. */
export type Standing = 'open' | 'succeeded' | 'ended badly';

/**
 * Returns the standing of an Order. After an edit, a force or a retry, the status shows a previous end for some time. `wasOpen`: the caller
 * has observed it without an end, so an end that it shows now is new.
 */
export function standingOf(order: Order, wasOpen = false): Standing {
  const { metadata, status = {} } = order;
  const { phase } = status;
  if (!hasEnd(order) || status.observedGeneration !== metadata.generation) return 'open';
  if (isPending(order, wasOpen)) return 'open';
  return phase === 'Succeeded' ? 'succeeded' : 'ended badly';
}

/** True for an Order whose status shows an end, even a previous one. */
export function hasEnd({ status }: Pick<Order, 'status'>): boolean {
  return ['Succeeded', 'Failed', 'Cancelled'].includes(status?.phase ?? '');
}

/** The Orders that were observed unfinished. */
export interface UnfinishedOrders {
  see(order: Order): void;
  has(order: Order): boolean;
}

export function trackUnfinishedOrders(): UnfinishedOrders {
  const uids = new Set<string | undefined>();
  return {
    see(order) {
      if (!hasEnd(order)) uids.add(order.metadata.uid);
    },
    has: ({ metadata }) => uids.has(metadata.uid),
  };
}

function isPending(order: Order, wasOpen: boolean): boolean {
  const { metadata, status = {} } = order;
  if (isForceOwed(order)) return true;
  const retryAt = Number(metadata.annotations?.[annotations.retryAt] ?? 0) * 1000;
  // The server dates a retry at or after the failures that it refers to (in whole seconds); a succeeded Order has nothing to retry.
  const ended = Date.parse(status.completionTime ?? '') || 0;
  return !wasOpen && status.phase === 'Failed' && retryAt >= ended && ended > 0;
}
