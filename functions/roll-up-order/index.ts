/** roll-up-order: an Order, its plan and its ArtifactWorkflows -> the whole Order.status. */

import { mergePatchBetween } from '#shared/base/meta';
import { readChildren, readPlan, recordEvent, writeStatus } from '#shared/conduit/function-kit';
import type { Context, StepEvent } from '#shared/conduit/runtime';
import { isDeleting, orders, rollUp, staleness } from '#shared/domain';
import { transitions } from './transitions.ts';

/** Writes the Order's status if it differs. Rejects with transient errors, for the broker to retry. */
export async function handle(context: Context, event: StepEvent): Promise<void> {
  const { api, signal, now } = context;
  const order = await api.get(orders, event, signal);
  if (order === undefined) return;
  const [plan, children] = await Promise.all([readPlan(context, order), readChildren(context, order)]);
  if (staleness(order, plan, children, now) === undefined) return;

  const status = rollUp(order, plan, children, now);
  const patch = mergePatchBetween(order.status, status);
  if (patch === undefined) return;

  if (!(await writeStatus(context, orders, order, patch))) return;
  for (const transition of transitions(order.status, status, order.spec)) {
    // A deletion is a new generation, too.
    if (transition.reason === 'Accepted' && isDeleting(order)) continue;
    await recordEvent(context, { ...transition, regarding: order, component: 'roll-up-order' });
  }
}
