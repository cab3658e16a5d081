import type { KubeObject } from '#shared/base/meta';
import type { Kind } from '#shared/kubernetes/client';
import type { Node } from './graph.ts';

/** How long an Event is kept after its last occurrence, like kube-apiserver's --event-ttl. */
const eventTtlMs = 60 * 60 * 1000;

/** Events removed per sweep: the rest is left to the next sweep. */
const batch = 500;

/** Returns the time for `Node.seen`: only Events have one. */
export function seenOf(kind: Kind, object: KubeObject): string | undefined {
  if (kind.kind !== 'Event') return undefined;
  const { lastTimestamp, eventTime } = object;
  if (typeof lastTimestamp === 'string') return lastTimestamp;
  return typeof eventTime === 'string' ? eventTime : object.metadata.creationTimestamp;
}

/** Returns expired Events, up to `batch`. */
export function expiredEvents(nodes: Iterable<Node>, now: Date): Node[] {
  const limit = now.getTime() - eventTtlMs;
  const expired: Node[] = [];
  for (const node of nodes) {
    if (node.seen !== undefined && !node.deleting && Date.parse(node.seen) < limit) expired.push(node);
    if (expired.length === batch) break;
  }
  return expired;
}
