/** decompose-order: an Order -> its ArtifactWorkflows, and the Order's finalizer. Writes no status. */

import { ArcError } from '#shared/base/errors';
import {
  addFinalizer,
  ignoreNotFound,
  readChildren,
  readPlan,
  recordEvent,
  recordRequest,
  removeFinalizer,
  uidOf,
} from '#shared/conduit/function-kit';
import type { Context, StepEvent } from '#shared/conduit/runtime';
import {
  type ArtifactWorkflow,
  annotations,
  decideChildren,
  decideDeletion,
  finalizers,
  hasFirstStatusOnly,
  isDeleting,
  type Order,
  orders,
  type Refusals,
  type Rerun,
  refusalNote,
  rerunsIn,
} from '#shared/domain';
import { patchChildren, retireChildren, supersedeChildren } from './change-children.ts';
import { createChildren } from './create-children.ts';

/** Each may read `listBytes`. */
export const concurrency = 3;

/** Makes the Order's ArtifactWorkflows those of its plan. Rejects with transient errors, for the broker to retry. */
export async function handle(context: Context, event: StepEvent): Promise<undefined> {
  const { namespace, name, uid } = event;
  const existing = await readChildren(context, { metadata: { namespace, name, uid } });
  // Read after the children: a plan older than one of them would stop the version in force and create an outdated one.
  const order = await context.api.get(orders, event, context.signal);
  if (order === undefined) return;
  // Another Order has the name now, with children of its own.
  if (order.metadata.uid !== event.uid) return handle(context, { ...event, uid: order.metadata.uid ?? '' });
  if (isDeleting(order)) return letGo(context, order, existing);
  await recordRequest(context, order, 'decompose-order');
  const plan = await readPlan(context, order);
  const decision = decideChildren(order, plan, existing);

  if (decision.finalizer === 'add' && !(await hold(context, order))) return;
  await patchChildren(context, decision.patches);
  const { created, refusals } = await createChildren(context, order, decision.create);
  await noteRefusals(context, order, refusals);
  // A refused child would otherwise be announced with every retry.
  const done = { ...decision, create: created > 0 ? decision.create : [] };
  for (const rerun of rerunsIn(done)) await announceRerun(context, order, rerun);
  if (created > 0) for (const note of plan.notes) await warn(context, order, note);
  await supersedeChildren(context, decision.superseded);
  await retireChildren(context, decision);
}

/**
 * Adds our finalizer to the Order; false if the Order is gone. roll-up-order may write the first status of a new Order meanwhile, which
 * does not affect the decision. Rejects with Conflict after any other change.
 */
async function hold(context: Context, order: Order): Promise<boolean> {
  try {
    return await addFinalizer(context, orders, order, finalizers.children);
  } catch (caught) {
    if (!ArcError.is(caught, 'Conflict')) throw caught;
    const now = await context.api.get(orders, order.metadata, context.signal);
    if (now !== undefined && !hasFirstStatusOnly(order, now)) throw caught;
    return now !== undefined && addFinalizer(context, orders, now, finalizers.children);
  }
}

/** Records on the Order which of its children were refused, for roll-up-order: this function writes no status. */
async function noteRefusals({ api, signal }: Context, order: Order, refusals: Refusals): Promise<void> {
  const note = refusalNote(order, refusals);
  if (note === undefined) return;
  const patch = { metadata: { ...uidOf(order), annotations: { [annotations.refused]: note } } };
  await ignoreNotFound(api.mergePatch(orders, order.metadata, patch, {}, signal));
}

/** Stops the children of an Order that is being deleted, and removes the finalizer once they are gone. */
async function letGo(
  context: Context,
  order: Order,
  existing: readonly ArtifactWorkflow[],
): Promise<undefined> {
  const decision = decideDeletion(order, existing);
  await retireChildren(context, { stop: decision.stop, remove: [] });
  if (decision.letGo) await removeFinalizer(context, orders, order, finalizers.children);
}

async function announceRerun(context: Context, order: Order, { cause, artifacts }: Rerun): Promise<void> {
  const message = `${artifacts === 1 ? '1 artifact runs' : `${artifacts} artifacts run`} again: ${cause}`;
  const component = 'decompose-order';
  await recordEvent(context, { regarding: order, type: 'Normal', reason: 'Rerun', message, component });
}

async function warn(context: Context, order: Order, message: string): Promise<void> {
  const component = 'decompose-order';
  const reason = 'ParameterIgnored';
  await recordEvent(context, { regarding: order, type: 'Warning', reason, message, component });
}
