/** roll-up-order: an Order, its plan and its ArtifactWorkflows -> Order.status, all of it, and what subscribers are told of it. */
import type { CloudEvent } from 'cloudevents';
import {
  type ArtifactWorkflow,
  artifactWorkflows,
  isOwnedBy,
  labels,
  type Order,
  orderMilestone,
  orders,
  rollUp,
  statusPatch,
} from '#shared/domain';
import { ArcError } from '#shared/errors';
import { orderEvent } from '#shared/events';
import { emitEvent, patchStatus } from '#shared/kube';
import { type Context, readPlan, type Wake } from '#shared/runtime';
import { transitions } from './transitions.ts';

/**
 * Writes the Order's status where it differs, and replies with the domain event that this makes due, if one is. Rejects with what the
 * broker is to retry.
 */
export async function handle(context: Context, wake: Wake): Promise<CloudEvent<unknown> | undefined> {
  const { api, signal, now } = context;
  const order = await api.get(orders, { namespace: wake.namespace, name: wake.name }, signal);
  if (order === undefined) return undefined;
  const [plan, children] = await Promise.all([readPlan(context, order), childrenOf(context, order)]);
  const status = rollUp(order, plan, children, now);
  const patch = statusPatch(order.status, status);
  if (patch === undefined) return undefined;
  if (!(await patchStatus(api, orders, order, patch, signal))) return undefined;
  for (const change of transitions(order.status, status)) await tell(context, order, change);
  const milestone = orderMilestone(order, status, now);
  return milestone && orderEvent(order, status, milestone);
}

async function childrenOf({ api, signal }: Context, order: Order): Promise<ArtifactWorkflow[]> {
  const labelSelector = `${labels.order}=${order.metadata.uid ?? ''}`;
  const { items } = await api.list(artifactWorkflows, { ...namespaceOf(order), labelSelector }, signal);
  // Anybody can write a label; what counts is what the Order owns.
  return items.filter((workflow) => isOwnedBy(workflow, order));
}

function namespaceOf({ metadata }: Order): { namespace?: string } {
  return metadata.namespace === undefined ? {} : { namespace: metadata.namespace };
}

async function tell(
  { api, log, now, signal }: Context,
  order: Order,
  change: ReturnType<typeof transitions>[number],
): Promise<void> {
  try {
    await emitEvent(api, { ...change, regarding: order, component: 'roll-up-order', now }, signal);
  } catch (caught) {
    // The status is written; failing the delivery over its announcement would help nobody.
    log.warn({ err: ArcError.from(caught) }, 'the Event could not be recorded');
  }
}
