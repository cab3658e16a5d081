import { type KubeObject, ownerOfKind } from '#shared/base/meta';
import type { Context } from '#shared/conduit/runtime';
import { type ArtifactWorkflow, type Order, orders } from '#shared/domain';
import { namespaceOf } from './metadata.ts';

type Reader = Pick<Context, 'api' | 'metrics' | 'signal'>;

/** Orders that a process remembers as it has read them last, at most: each may take a megabyte. */
const most = 4;

/** What each process has read last, by its metrics, which are made once. By uid. */
const read = new WeakMap<Context['metrics'], Map<string, Order>>();

/**
 * What is known of the Order of an ArtifactWorkflow without its spec and status, at least as new as the ArtifactWorkflow; undefined where there
 * is none.
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
 * The Order whose metadata was read. When times to live end, that of each of its ArtifactWorkflows ends, and its status shows all of them: it is
 * read again only when it has changed.
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
