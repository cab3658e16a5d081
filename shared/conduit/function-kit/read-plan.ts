import type { Context } from '#shared/conduit/runtime';
import {
  appliesPolicies,
  artifactTypes,
  clusterArtifactTypes,
  clusterWorkflowTemplates,
  endpoints,
  type Order,
  type OrderPlan,
  type PlanInputs,
  planOrder,
  type TemplateRef,
  templatesUsed,
  type WorkflowTemplate,
  workflowTemplates,
} from '#shared/domain';
import { ignoreNotFound } from './api-errors.ts';
import { namespaceOf } from './metadata.ts';
import { readSettings } from './read-settings.ts';

/** Reads everything an Order refers to and the operator's settings, and plans the Order. Rejects with errors of the API. */
export async function readPlan(
  context: Pick<Context, 'api' | 'log' | 'metrics' | 'now' | 'signal'>,
  order: Order,
): Promise<OrderPlan> {
  const [inputs, settings] = await Promise.all([readPlanInputs(context, order), readSettings(context)]);
  return planOrder(order, inputs, settings);
}

/** Reads the existing objects that an Order refers to. Rejects with errors of the API. */
export async function readPlanInputs(
  { api, signal }: Pick<Context, 'api' | 'signal'>,
  order: Order,
): Promise<PlanInputs> {
  const namespace = namespaceOf(order);
  const [known, own, cluster] = await Promise.all([
    api.list(endpoints, namespace, signal),
    api.list(artifactTypes, namespace, signal),
    api.list(clusterArtifactTypes, {}, signal),
  ]);
  const types = [...own.items, ...cluster.items];
  const read = async ({ name, clusterScope }: TemplateRef) =>
    ignoreNotFound<WorkflowTemplate | undefined>(
      clusterScope === true
        ? api.get(clusterWorkflowTemplates, { name }, signal)
        : api.get(workflowTemplates, { ...namespace, name }, signal),
    );
  const used = templatesUsed(order, types);
  // Without Argo every template is missing, which the Order reports.
  const found = await Promise.all(used.map(read));
  const missingTemplates = used.filter((_, index) => found[index] === undefined);
  const applyingTemplates = found.flatMap((one) =>
    one !== undefined && appliesPolicies(one) ? [one.metadata.name] : [],
  );
  return { endpoints: known.items, types, missingTemplates, applyingTemplates };
}
