/** roll-up-order: an Order, its plan and its ArtifactWorkflows -> the whole Order.status, and a domain event for subscribers. */
import type { CloudEvent } from 'cloudevents';
import { isDeleting, isOn, orderMilestone, orders, rollUp, staleness } from '#shared/domain';
import { orderEvent } from '#shared/events';
import { readChildren, readPlan, readSettings, recordEvent, writeStatus } from '#shared/function-kit';
import { mergePatchBetween } from '#shared/meta';
import type { Context, StepEvent } from '#shared/runtime';
import { transitions } from './transitions.ts';

/**
 * Writes the Order's status where it differs, and replies with the domain event that the new status makes due, if any. Rejects with
 * what the broker is to retry.
 */
export async function handle(context: Context, event: StepEvent): Promise<CloudEvent<unknown> | undefined> {
  const { api, signal, now } = context;
  const order = await api.get(orders, event, signal);
  if (order === undefined) return undefined;
  const [plan, children] = await Promise.all([readPlan(context, order), readChildren(context, order)]);
  if (staleness(order, plan, children, now) === undefined) return undefined;

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
