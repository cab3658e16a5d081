import { readPlanInputs, readSettings } from '#shared/conduit/function-kit';
import type { Context } from '#shared/conduit/runtime';
import {
  type ArtifactWorkflow,
  isDeleting,
  type Order,
  type OrderPlan,
  type PlanInputs,
  planOrder,
  staleness,
} from '#shared/domain';

/** Namespaces whose inputs a process keeps. */
const mostKept = 32;
/** Maximum age of inputs for the first status of an Order: many Orders are often created at once; ms. */
const firstMaxAge = 1_000;

interface Kept {
  inputs: PlanInputs;
  /** When they were asked for, Unix ms. */
  at: number;
}

/** The inputs of plans that each process has read last, by namespace, the latest last. Processes are told apart by their metrics. */
const kept = new WeakMap<Context['metrics'], Map<string, Kept>>();

/**
 * Returns the plan that the status of an Order has to show; undefined if the status lacks nothing. Most changes are those of ArtifactWorkflows:
 * for them, inputs that were read earlier serve if the status names exactly these (`status.inputs`). A first status may show inputs that were
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
  const { namespace = '', generation } = metadata;
  const now = context.now.getTime();
  const earlier = kept.get(context.metrics)?.get(namespace);
  const isFirst = status?.inputs === undefined;
  // A deletion is a new generation, too.
  const isSame = status?.observedGeneration === generation || isDeleting(order);
  if (earlier !== undefined && (isFirst ? Math.abs(now - earlier.at) < firstMaxAge : isSame)) {
    const { plan, isDue } = planFrom(earlier.inputs);
    if (isDue && (isFirst || plan.inputs === status?.inputs)) return plan;
  }
  const inputs = await readPlanInputs(context, order);
  keep(context.metrics, namespace, { inputs, at: now });
  const { plan, isDue } = planFrom(inputs);
  return isDue ? plan : undefined;
}

function keep(metrics: Context['metrics'], namespace: string, read: Kept): void {
  const known = kept.get(metrics) ?? new Map<string, Kept>();
  kept.set(metrics, known);
  known.delete(namespace);
  known.set(namespace, read);
  const [oldest] = known.keys();
  if (known.size > mostKept && oldest !== undefined) known.delete(oldest);
}
