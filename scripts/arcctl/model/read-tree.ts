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

/** More names than this make a selector that is longer than a URL may be: then all pods of the namespace are read. */
const mostSelected = 50;

/** What was not looked at, and why: the tree is shown without it. */
export type Unread = Map<string, string>;

/**
 * The tree of an Order that was read. Argo's objects and pods are left out where the user may not read them or the cluster
 * has none of the kind; `unread` gets the reason.
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
  // Anybody can write the label. Argo names a run in a label of its pods, so one whose name fits in none has no pods.
  const names = runs.map(({ metadata }) => metadata.name).filter(isLabelValue);
  const selector = names.length > mostSelected ? labels.argoWorkflow : podSelector(names);
  return treeOf({
    order,
    artifactWorkflows: own.items,
    runs: [...runs, ...schedules],
    pods: names.length === 0 ? [] : await optional(shownPods, selector),
  });
}

/** The Order of that name; rejects with NotFound and what to do. */
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

/** The names of Orders that a mistyped one may stand for; none where they cannot be listed. */
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
