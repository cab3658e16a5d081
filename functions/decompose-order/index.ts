/** decompose-order: an Order -> its ArtifactWorkflows, and the Order's finalizer. Writes no status. */
import {
  type ArtifactWorkflow,
  decideChildren,
  finalizers,
  type Order,
  type OrderPlan,
  orders,
} from '#shared/domain';
import { addFinalizer, readChildren, readPlan, recordEvent, removeFinalizer } from '#shared/function-kit';
import type { Context, Wake } from '#shared/runtime';
import { patchChildren, retireChildren } from './change-children.ts';
import { createChildren } from './create-children.ts';

/** Makes the ArtifactWorkflows of the Order those that its plan asks for. Rejects with what the broker is to retry. */
export async function handle(context: Context, wake: Wake): Promise<undefined> {
  const order = await context.api.get(orders, wake, context.signal);
  if (order === undefined) return;
  const [plan, existing] = await Promise.all([readPlan(context, order), readChildren(context, order)]);
  const decision = decideChildren(order, plan, existing);

  if (decision.finalizer === 'add' && !(await addFinalizer(context, orders, order, finalizers.children)))
    return;
  // A new version starts only when the old one has ended, so retirement comes first.
  await retireChildren(context, decision);
  await patchChildren(context, decision.patches);
  const missing = decision.create.length > 0 ? await stillMissing(context, order, plan, existing) : [];
  const created = await createChildren(context, order, missing);
  if (created > 0) await announce(context, order, created);
  if (decision.finalizer === 'remove') await removeFinalizer(context, orders, order, finalizers.children);
}

/**
 * The ArtifactWorkflows to create by the Order as it is now. One that finished and was removed after the Order was read, but before
 * its children were listed, is recorded in the status by now and must not run again.
 */
async function stillMissing(
  { api, signal }: Context,
  order: Order,
  plan: OrderPlan,
  existing: readonly ArtifactWorkflow[],
): Promise<ArtifactWorkflow[]> {
  const now = await api.get(orders, order.metadata, signal);
  if (now === undefined || now.metadata.uid !== order.metadata.uid) return [];
  return decideChildren(now, plan, existing).create;
}

async function announce(context: Context, order: Order, created: number): Promise<void> {
  const message = `created ${created} ArtifactWorkflow${created === 1 ? '' : 's'}`;
  const component = 'decompose-order';
  await recordEvent(context, { regarding: order, type: 'Normal', reason: 'Created', message, component });
}
