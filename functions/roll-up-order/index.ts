/** roll-up-order: an Order, its plan and its ArtifactWorkflows -> the whole Order.status, and a domain event for subscribers. */
import type { CloudEvent } from 'cloudevents';
import { isDeleting, isOn, type Order, orderMilestone, orders, rollUp, shownPlan } from '#shared/domain';
import { orderEvent } from '#shared/events';
import { readChildren, readPlan, readSettings, recordEvent, writeStatus } from '#shared/function-kit';
import { mergePatchBetween } from '#shared/meta';
import type { Context, Wake } from '#shared/runtime';
import { transitions } from './transitions.ts';

/**
 * Writes the Order's status where it differs, and replies with the domain event that the new status makes due, if any. Rejects with
 * what the broker is to retry.
 */
export async function handle(context: Context, wake: Wake): Promise<CloudEvent<unknown> | undefined> {
  const { api, signal, now } = context;
  const order = await api.get(orders, wake, signal);
  if (order === undefined) return undefined;
  const { plan, children } = await read(context, wake, order);

  const status = rollUp(order, plan, children, now);
  const patch = mergePatchBetween(order.status, status);
  if (patch === undefined) return undefined;

  // Before the write: what fails after it is not said again.
  const settings = await readSettings(context);
  if (!(await writeStatus(context, orders, order, patch))) return undefined;
  for (const transition of transitions(order.status, status, order.spec)) {
    // A deletion is a new generation, too.
    if (transition.reason === 'Accepted' && isDeleting(order)) continue;
    await recordEvent(context, { ...transition, regarding: order, component: 'roll-up-order' });
  }
  const milestone = orderMilestone(order, status, now);
  return milestone && isOn('domainEvents', settings) ? orderEvent(order, status, milestone) : undefined;
}

/** The ArtifactWorkflows of the Order and its plan, which is read anew unless there is news of the ArtifactWorkflows only. */
async function read(context: Context, { reason }: Wake, order: Order) {
  if (reason === 'children') {
    const children = await readChildren(context, order);
    return { children, plan: shownPlan(order, children) ?? (await readPlan(context, order)) };
  }
  const [plan, children] = await Promise.all([readPlan(context, order), readChildren(context, order)]);
  return { children, plan };
}
