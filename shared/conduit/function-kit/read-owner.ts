import { type KubeObject, ownerOfKind } from '#shared/base/meta';
import type { Context } from '#shared/conduit/runtime';
import { type ArtifactWorkflow, type Order, orders } from '#shared/domain';
import { namespaceOf } from './metadata.ts';

type Reader = Pick<Context, 'api' | 'metrics' | 'signal'>;

/** Orders cached per process: each may take a megabyte. */
const most = 4;

/** The cache of each process, by its metrics, which are created once; then by uid. */
const read = new WeakMap<Context['metrics'], Map<string, Order>>();

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
export async function readOwner(
  { api, metrics, signal }: Reader,
  { metadata }: KubeObject,
): Promise<Order | undefined> {
  const { uid = '', resourceVersion } = metadata;
  const known = read.get(metrics) ?? new Map<string, Order>();
  read.set(metrics, known);
  const before = known.get(uid);
  if (before !== undefined && before.metadata.resourceVersion === resourceVersion) return before;
  const order = await api.get(orders, { ...namespaceOf({ metadata }), name: metadata.name }, signal);
  known.delete(uid);
  if (order?.metadata.uid !== uid) return undefined;
  known.set(uid, order);
  for (const oldest of [...known.keys()].slice(0, -most)) known.delete(oldest);
  return order;
}
