import { createProcessCache, readPlanInputs, readSettings } from '#shared/conduit/function-kit';
import type { Context } from '#shared/conduit/runtime';
import {
  type ArtifactWorkflow,
  endpointsUsed,
  isDeleting,
  type Order,
  type OrderPlan,
  type PlanInputs,
  planOrder,
  shortHash,
  staleness,
  typesUsed,
} from '#shared/domain';

/** Maximum age of inputs for the first status of an Order: many Orders are often created at once; ms. */
const firstMaxAge = 1_000;

interface CachedInputs {
  inputs: PlanInputs;
  /** When they were read, Unix ms. */
  at: number;
}

/** By namespace and by what the Order refers to: Orders of one shape share their inputs. */
const cache = createProcessCache<CachedInputs>(64);
/** Size limit of cached inputs, as JSON: usual ones are ten times smaller, and those of a hostile namespace must not fill the memory. */
const mostCached = 256 * 1024;

/**
 * Returns the plan that the status of an Order has to show; undefined if the status lacks nothing. Most changes are those of ArtifactWorkflows:
 * for them, inputs that were read cached serve if the status names exactly these (`status.inputs`). A first status may show inputs that were
 * read a moment ago: if they have changed since, it is due again. Anything else is decided by inputs that are read anew, so a status
 * never falls back to older ones. Rejects with errors of the API.
 */
export async function planForStatus(
  context: Context,
  order: Order,
  children: readonly ArtifactWorkflow[],
): Promise<OrderPlan | undefined> {
  const settings = await readSettings(context);
  const planFrom = (inputs: PlanInputs) => {
    const plan = planOrder(order, inputs, settings);
    return { plan, isDue: staleness(order, plan, children, context.now) !== undefined };
  };
  const { metadata, status } = order;
  const now = context.now.getTime();
  const key = `${metadata.namespace} ${shortHash([endpointsUsed(order), typesUsed(order, [], {})])}`;
  const cached = cache.get(context, key);
  const isFirst = status?.inputs === undefined;
  // A deletion is a new generation, too.
  const isSame = status?.observedGeneration === metadata.generation || isDeleting(order);
  if (cached !== undefined && (isFirst ? Math.abs(now - cached.at) < firstMaxAge : isSame)) {
    const { plan, isDue } = planFrom(cached.inputs);
    if (isDue && (isFirst || plan.inputs === status?.inputs)) return plan;
  }
  const inputs = await readPlanInputs(context, order, settings);
  if (JSON.stringify(inputs).length <= mostCached) cache.set(context, key, { inputs, at: now });
  const { plan, isDue } = planFrom(inputs);
  return isDue ? plan : undefined;
}
