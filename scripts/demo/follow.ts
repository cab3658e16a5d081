import { ArcError } from '#shared/base/errors';
import { type ArtifactStatus, type Order, orders } from '#shared/domain';
import type { KubeClient } from '#shared/kubernetes/client';

/** The status of an artifact with its name. */
export type ShownArtifact = ArtifactStatus & { name: string };

/** Returns the artifacts in the Order's status, in the order of its spec. */
export function shownArtifacts(order: Order): ShownArtifact[] {
  return Object.values(order.status?.artifactWorkflows ?? {})
    .toSorted((a, b) => a.artifactIndex - b.artifactIndex)
    .map((status) => ({
      ...status,
      name: order.spec.artifacts?.[status.artifactIndex]?.name ?? `#${status.artifactIndex}`,
    }));
}

/** Watches the Order until it has finished and shows each state; rejects with Timeout when `signal` is aborted first. */
export async function followOrder(
  api: KubeClient,
  key: { namespace: string; name: string },
  show: (artifacts: ShownArtifact[]) => void,
  signal: AbortSignal,
): Promise<Order> {
  const field = { namespace: key.namespace, fieldSelector: `metadata.name=${key.name}` };
  const first = await api.list(orders, field, signal);
  let order = first.items[0];
  if (order && isOver(order)) return order;
  const options = { ...field, resourceVersion: first.resourceVersion };
  for await (const event of api.watch(orders, options, signal)) {
    if (event.type === 'BOOKMARK') continue;
    order = event.object;
    show(shownArtifacts(order));
    if (event.type === 'DELETED')
      throw new ArcError('NotFound', `Order ${key.name} was deleted while it was running`);
    if (isOver(order)) return order;
  }
  throw new ArcError('Timeout', `Order ${key.name} is still ${order?.status?.phase ?? 'unknown'}`);
}

function isOver(order: Order): boolean {
  return order.status?.phase === 'Succeeded' || order.status?.phase === 'Failed';
}
