/** roll-up-order: an Order, its plan and its ArtifactWorkflows -> the whole Order.status. */

import { mergePatchBetween } from '#shared/base/meta';
import { readChildren, recordEvent, writeStatus } from '#shared/conduit/function-kit';
import type { Context, StepEvent } from '#shared/conduit/runtime';
import { isDeleting, orders, rollUp } from '#shared/domain';
import { planForStatus } from './plan-for-status.ts';
import { transitions } from './transitions.ts';

/** Each may read `listBytes`. */
export const concurrency = 3;

/** Writes the Order's status if it differs. Rejects with transient errors, for the broker to retry. */
export async function handle(context: Context, event: StepEvent): Promise<void> {
  const { api, signal, now } = context;
  const order = await api.get(orders, event, signal);
  if (order === undefined) return;
  const children = await readChildren(context, order);
  const plan = await planForStatus(context, order, children);
  if (plan === undefined) return;

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
