import type { KubeObject } from '#shared/base/meta';
import type { Kind } from '#shared/kubernetes/client';
import type { Node } from './graph.ts';

/** How long an Event is kept after it was last seen, as kube-apiserver's --event-ttl. */
const eventTtlMs = 60 * 60 * 1000;

/** Most Events removed in one sweep: the rest have their turn in the next. */
const batch = 500;

/** The time for `Node.seen`: only Events have one. */
export function seenOf(kind: Kind, object: KubeObject): string | undefined {
  if (kind.kind !== 'Event') return undefined;
  const { lastTimestamp, eventTime } = object;
  if (typeof lastTimestamp === 'string') return lastTimestamp;
  return typeof eventTime === 'string' ? eventTime : object.metadata.creationTimestamp;
}

/** Events whose time is over, a bounded number of them. */
export function expiredEvents(nodes: Iterable<Node>, now: Date): Node[] {
  const limit = now.getTime() - eventTtlMs;
  const expired: Node[] = [];
  for (const node of nodes) {
    if (node.seen !== undefined && !node.deleting && Date.parse(node.seen) < limit) expired.push(node);
    if (expired.length === batch) break;
  }
  return expired;
}
