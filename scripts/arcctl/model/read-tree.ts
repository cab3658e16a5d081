import { ArcError } from '#shared/base/errors';
import type { KubeObject } from '#shared/base/meta';
import {
  artifactWorkflows,
  childSelector,
  cronWorkflows,
  isLabelValue,
  labels,
  type Order,
  orders,
  podSelector,
  workflows,
} from '#shared/domain';
import type { Kind, KubeClient } from '#shared/kubernetes/client';
import { closest } from '../core/closest.ts';
import { shownPods } from '../core/pod.ts';
import { type OrderTree, treeOf } from './tree.ts';

/** With more names the selector would exceed the URL length: then all pods of the namespace are read. */
const mostSelected = 50;

/** Kinds that could not be read, with the reason: the tree is shown without them. */
export type Unread = Map<string, string>;

/**
 * Returns the tree of an Order. Argo's objects and pods are omitted if the user may not read them or the cluster does not have the kind;
 * `unread` gets the reason.
 */
export async function readTree(
  api: KubeClient,
  order: Order,
  unread: Unread,
  signal?: AbortSignal,
): Promise<OrderTree> {
  const { namespace = 'default' } = order.metadata;
  const children = { namespace, labelSelector: childSelector(order) };
  const optional = <T extends KubeObject>(kind: Kind<T>, labelSelector: string) =>
    orNone(unread, kind, () => api.list(kind, { namespace, labelSelector }, signal));
  const [own, runs, schedules] = await Promise.all([
    api.list(artifactWorkflows, children, signal),
    optional(workflows, children.labelSelector),
    optional(cronWorkflows, children.labelSelector),
  ]);
  // Anyone can set the label. Argo labels pods with the name of their Workflow; a name too long for a label has no pods.
  const names = runs.map(({ metadata }) => metadata.name).filter(isLabelValue);
  const selector = names.length > mostSelected ? labels.argoWorkflow : podSelector(names);
  return treeOf({
    order,
    artifactWorkflows: own.items,
    runs: [...runs, ...schedules],
    pods: names.length === 0 ? [] : await optional(shownPods, selector),
  });
}

/** Returns the Order of that name; rejects with NotFound and a hint. */
export async function readOrder(
  api: KubeClient,
  key: { namespace: string; name: string },
  signal?: AbortSignal,
): Promise<Order> {
  const order = await api.get(orders, key, signal);
  if (order) return order;
  const meant = closest(key.name, await namesOf(api, key.namespace, signal));
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
  const message = `there is no Order ${key.name} in namespace ${key.namespace}: list them with "arcctl get orders -A".${hint}`;
  throw new ArcError('NotFound', message, { details: { kind: 'Order', name: key.name } });
}

const mostNames = 500;

/** Returns the names of similar Orders; none if they cannot be listed. */
async function namesOf(api: KubeClient, namespace: string, signal?: AbortSignal): Promise<string[]> {
  try {
    const { items } = await api.list(orders, { namespace, metadataOnly: true, limit: mostNames }, signal);
    return items.map(({ metadata }) => metadata.name);
  } catch (caught) {
    if (ArcError.is(caught, 'Forbidden', 'NotFound')) return [];
    throw caught;
  }
}

async function orNone<T extends KubeObject>(
  unread: Unread,
  { plural }: Kind<T>,
  read: () => Promise<{ items: T[] }>,
): Promise<T[]> {
  try {
    return (await read()).items;
  } catch (caught) {
    if (!ArcError.is(caught, 'Forbidden', 'NotFound')) throw caught;
    if (caught.code === 'Forbidden') unread.set(plural, caught.message);
    return [];
  }
}
