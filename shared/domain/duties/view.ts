import type { CronWorkflow, Workflow } from '../kinds/argo.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import type { Order } from '../kinds/order.ts';
import type { OrderPlan } from '../plan/plan.ts';
import type { Settings } from '../settings/settings.ts';

/** The latest observed state of all objects and their relations, read-only: the input of duties. */
export interface View {
  /** The operator's settings. */
  readonly settings: Settings;
  /** False where CronWorkflows are not watched: schedules are switched off. */
  readonly hasSchedules: boolean;
  order(uid: string): Order | undefined;
  /** The ArtifactWorkflows that the Order owns, including those being deleted. The same array until one of them changes. */
  childrenOf(order: Order): readonly ArtifactWorkflow[];
  /** True if a child has not finished. */
  hasUnfinished(order: Order): boolean;
  /** How many children occupy a slot of the Order's parallelism. */
  inFlightOf(order: Order): number;
  /** The plan of the Order, from the current state of everything it refers to. */
  planOf(order: Order): OrderPlan;
  endpoint(namespace: string, name: string): Endpoint | undefined;
  /** True while an Order or ArtifactWorkflow that has not ended names the Endpoint. */
  isInUse(endpoint: Endpoint): boolean;
  /** The unfinished ArtifactWorkflows that the Endpoint limits. The same array until one of them changes. */
  limitedBy(endpoint: Endpoint): readonly ArtifactWorkflow[];
  /** How many of them occupy a slot. */
  inFlightAt(endpoint: Endpoint): number;
  /** The versions of the same artifact, and the unfinished ArtifactWorkflows that write to the same target; may include `workflow`. */
  conflictsOf(workflow: ArtifactWorkflow): readonly ArtifactWorkflow[];
  /** The Argo object that `currentWorkflow` names. */
  argoOf(workflow: ArtifactWorkflow): Workflow | CronWorkflow | undefined;
  /** The latest Workflow that a CronWorkflow has started. */
  newestRunOf(schedule: CronWorkflow): Workflow | undefined;
  /** True where the ServiceAccount of knative/tenant exists. */
  hasTenantAccount(namespace: string): boolean;
  /** The resourceVersion of a Secret, '' if it does not exist; undefined while Secrets are not watched. */
  secretVersion(namespace: string, name: string): string | undefined;
}
