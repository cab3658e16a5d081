import type { KubeObject } from '#shared/base/meta';
import type { Context } from '#shared/conduit/runtime';
import {
  appliesPolicies,
  artifactTypes,
  clusterArtifactTypes,
  clusterWorkflowTemplates,
  endpoints,
  endpointsUsed,
  isObjectName,
  type Order,
  type OrderPlan,
  type PlanInputs,
  planOrder,
  type Settings,
  type TemplateRef,
  templatesUsed,
  typesUsed,
  type WorkflowTemplate,
  workflowTemplates,
} from '#shared/domain';
import type { Kind } from '#shared/kubernetes/client';
import { ignoreNotFound } from './api-errors.ts';
import { namespaceOf } from './metadata.ts';
import { readSettings } from './read-settings.ts';

/** Reads of one event at a time: each object may be large. */
const concurrentReads = 8;

/** Reads everything an Order refers to and the operator's settings, and plans the Order. Rejects with errors of the API. */
export async function readPlan(
  context: Pick<Context, 'api' | 'log' | 'metrics' | 'now' | 'signal'>,
  order: Order,
): Promise<OrderPlan> {
  const settings = await readSettings(context);
  return planOrder(order, await readPlanInputs(context, order, settings), settings);
}

/**
 * Reads the existing objects that an Order refers to, without annotations. Each by its name: users write 16 MiB of Endpoints and of types into
 * a namespace, and lists of them would exhaust the memory of a process that serves all namespaces. Rejects with errors of the API.
 */
export async function readPlanInputs(
  { api, signal }: Pick<Context, 'api' | 'signal'>,
  order: Order,
  settings: Settings,
): Promise<PlanInputs> {
  const namespace = namespaceOf(order);
  const readNamed = async <T extends KubeObject>(kind: Kind<T>, names: readonly string[]) => {
    const known = names.filter(isObjectName);
    const found: T[] = [];
    for (let at = 0; at < known.length; at += concurrentReads) {
      const some = known.slice(at, at + concurrentReads);
      const read = await Promise.all(some.map((name) => api.get(kind, { ...namespace, name }, signal)));
      for (const object of read) if (object !== undefined) found.push(lean(object));
    }
    return found;
  };
  const [used, cluster] = await Promise.all([
    readNamed(endpoints, endpointsUsed(order)),
    api.list(clusterArtifactTypes, {}, signal),
  ]);
  const own = await readNamed(artifactTypes, typesUsed(order, used, settings));
  const types = [...own, ...cluster.items];
  const read = async ({ name, clusterScope }: TemplateRef) =>
    ignoreNotFound<WorkflowTemplate | undefined>(
      clusterScope === true
        ? api.get(clusterWorkflowTemplates, { name }, signal)
        : api.get(workflowTemplates, { ...namespace, name }, signal),
    );
  const templates = templatesUsed(order, types);
  // Without Argo every template is missing, which the Order reports.
  const found = await Promise.all(templates.map(read));
  const missingTemplates = templates.filter((_, index) => found[index] === undefined);
  const applyingTemplates = found.flatMap((one) =>
    one !== undefined && appliesPolicies(one) ? [one.metadata.name] : [],
  );
  return { endpoints: used, types, missingTemplates, applyingTemplates };
}

/** Returns an object without what no plan depends on, which may be most of it. */
function lean<T extends KubeObject>(object: T): T {
  const { annotations, managedFields, ...metadata } = object.metadata;
  return { ...object, metadata };
}
