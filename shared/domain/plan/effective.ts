import type { Duration } from '../kinds/common.ts';
import type { Order } from '../kinds/order.ts';
import { annotations, unixSeconds } from '../kinds/well-known.ts';
import { longestDurationMs } from '../values/limits.ts';

/** Returns the later of the annotation `force-at` and status.lastForceAt, in Unix seconds; 0 if neither is set. */
export function forceTime(order: Order): number {
  const asked = unixSeconds(order.metadata.annotations?.[annotations.forceAt]);
  const done = order.status?.lastForceAt ? Math.floor(Date.parse(order.status.lastForceAt) / 1000) : 0;
  return Math.max(asked, Number.isNaN(done) ? 0 : done);
}

/** Converts whole seconds to a Duration, capped at the longest valid Duration. */
export function secondsTtl(seconds: number | undefined): Duration | undefined {
  return seconds === undefined ? undefined : `${Math.min(seconds, longestDurationMs / 1000)}s`;
}

/** True while the annotation `force-at` requests a run that the status does not record yet. */
export function isForceOwed(order: Order): boolean {
  return forceTime(order) * 1000 > (Date.parse(order.status?.lastForceAt ?? '') || 0);
}
