import { type KubeObject, ownerOfKind } from '#shared/base/meta';
import type { Context } from '#shared/conduit/runtime';
import { type ArtifactWorkflow, type Order, orders } from '#shared/domain';
import { namespaceOf } from './metadata.ts';
import { createProcessCache } from './process-cache.ts';

type Reader = Pick<Context, 'api' | 'metrics' | 'signal'>;

/** By uid; few, because an Order may take a megabyte. */
const cache = createProcessCache<Order>(4);

/**
 * Reads the metadata of an ArtifactWorkflow's Order, at least as new as the ArtifactWorkflow; undefined if it has no Order.
 */
export async function readOwnerMetadata(
  { api, signal }: Reader,
  workflow: ArtifactWorkflow,
): Promise<KubeObject | undefined> {
  const owner = ownerOfKind(workflow, 'Order');
  if (owner === undefined) return undefined;
  const notOlderThan = workflow.metadata.resourceVersion;
  const key = { ...namespaceOf(workflow), name: owner.name, notOlderThan };
  const about = await api.getMetadata(orders, key, signal);
  return about?.metadata.uid === owner.uid ? about : undefined;
}

/**
 * Returns the Order whose metadata was read. When TTLs end, those of all of an Order's ArtifactWorkflows end, and its status shows each of
 * them: the Order is read again only if it has changed.
 */
export async function readOwner(context: Reader, { metadata }: KubeObject): Promise<Order | undefined> {
  const { api, signal } = context;
  const { uid = '', resourceVersion } = metadata;
  const before = cache.get(context, uid);
  if (before !== undefined && before.metadata.resourceVersion === resourceVersion) return before;
  const order = await api.get(orders, { ...namespaceOf({ metadata }), name: metadata.name }, signal);
  cache.delete(context, uid);
  if (order?.metadata.uid !== uid) return undefined;
  cache.set(context, uid, order);
  return order;
}
