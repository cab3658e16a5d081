import { ArcError } from '#shared/base/errors';
import { isOwnedBy } from '#shared/base/meta';
import type { Key } from '#shared/kubernetes/client';
import type { createPace } from '../model/pace.ts';
import { throughputOf } from '../model/throughput.ts';
import { treeOf } from '../model/tree.ts';
import type { OrderView } from './views/order-page.ts';
import type { Watches } from './watches.ts';

/** What the page of an Order shows, from what is followed. Throws NotFound where there is none of that name. */
export function orderViewOf(
  watches: Watches,
  { namespace, name }: Key,
  { pace, ...asked }: Pick<OrderView, 'done' | 'filters'> & { pace: ReturnType<typeof createPace> },
): OrderView {
  const failures = [watches.orders, watches.artifactWorkflows, watches.events].map(({ failure }) => failure);
  const order = watches.orders
    .values()
    .find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
  if (!order) {
    const [failure] = failures;
    throw failure ?? new ArcError('NotFound', `there is no Order ${name} in namespace ${namespace}`);
  }
  const own = watches.artifactWorkflows.values().filter((each) => isOwnedBy(each, order));
  const uids = new Set([order, ...own].map(({ metadata }) => metadata.uid));
  const isOwn = (uid: string | undefined) => uid !== undefined && uids.has(uid);
  return {
    ...asked,
    tree: treeOf({ order, artifactWorkflows: own }),
    minutes: throughputOf(own, Date.now()),
    events: watches.events.values().filter(({ involvedObject }) => isOwn(involvedObject.uid)),
    problems: failures.filter((failure) => failure !== undefined).map(({ message }) => message),
    paceOf: ({ index, phase, progress }) =>
      pace.note(String(index), phase === 'Running' ? progress : undefined, performance.now()),
  };
}
