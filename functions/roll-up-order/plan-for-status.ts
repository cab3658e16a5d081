import { readPlanInputs, readSettings } from '#shared/conduit/function-kit';
import type { Context } from '#shared/conduit/runtime';
import {
  type ArtifactWorkflow,
  type Order,
  type OrderPlan,
  type PlanInputs,
  planOrder,
  staleness,
} from '#shared/domain';

/** Namespaces whose inputs a process keeps. */
const mostKept = 32;

/** The inputs of plans that each process has read last, by namespace, the latest last. Processes are told apart by their metrics. */
const kept = new WeakMap<Context['metrics'], Map<string, PlanInputs>>();

/**
 * Returns the plan that the status of an Order has to show; undefined if the status lacks nothing. Most changes are those of ArtifactWorkflows:
 * for them, inputs that were read earlier serve if the status names exactly these (`status.inputs`). Anything else is decided by inputs
 * that are read anew, so a status never falls back to older ones. Rejects with errors of the API.
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
  const earlier = kept.get(context.metrics)?.get(namespace);
  if (earlier !== undefined && status?.inputs !== undefined && status.observedGeneration === generation) {
    const { plan, isDue } = planFrom(earlier);
    if (isDue && plan.inputs === status.inputs) return plan;
  }
  const inputs = await readPlanInputs(context, order);
  keep(context.metrics, namespace, inputs);
  const { plan, isDue } = planFrom(inputs);
  return isDue ? plan : undefined;
}

function keep(metrics: Context['metrics'], namespace: string, inputs: PlanInputs): void {
  const known = kept.get(metrics) ?? new Map<string, PlanInputs>();
  kept.set(metrics, known);
  known.delete(namespace);
  known.set(namespace, inputs);
  const [oldest] = known.keys();
  if (known.size > mostKept && oldest !== undefined) known.delete(oldest);
}
