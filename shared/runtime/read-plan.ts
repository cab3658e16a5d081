import {
  artifactTypes,
  clusterArtifactTypes,
  clusterWorkflowTemplates,
  endpoints,
  type Order,
  type OrderPlan,
  planOrder,
  type TemplateRef,
  templatesUsed,
  workflowTemplates,
} from '#shared/domain';
import type { Context } from './function.ts';

/** Reads what an Order refers to and plans it. Rejects with what the API answers. */
export async function readPlan(context: Pick<Context, 'api' | 'signal'>, order: Order): Promise<OrderPlan> {
  const { api, signal } = context;
  const { namespace } = order.metadata;
  const where = namespace === undefined ? {} : { namespace };
  const [known, own, cluster] = await Promise.all([
    api.list(endpoints, where, signal),
    api.list(artifactTypes, where, signal),
    api.list(clusterArtifactTypes, {}, signal),
  ]);
  const types = [...own.items, ...cluster.items];
  const exists = async ({ name, clusterScope }: TemplateRef) =>
    clusterScope === true
      ? api.get(clusterWorkflowTemplates, { name }, signal)
      : api.get(workflowTemplates, { ...where, name }, signal);
  const used = templatesUsed(order, types);
  // Also where Argo is not installed at all: then every template is missing, and is told so.
  const found = await Promise.all(used.map(exists));
  const missingTemplates = used.filter((_, index) => found[index] === undefined);
  return planOrder(order, { endpoints: known.items, types, missingTemplates });
}
