import type { CronWorkflow, Workflow } from '../kinds/argo.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import type { Order } from '../kinds/order.ts';
import type { OrderPlan } from '../plan/plan.ts';
import type { Settings } from '../settings/settings.ts';

/** The latest observed state of all objects and their relations, read-only: what duties are computed from. */
export interface View {
  /** The operator's settings. */
  readonly settings: Settings;
  /** False where CronWorkflows are not watched: schedules are switched off. */
  readonly hasSchedules: boolean;
  order(uid: string): Order | undefined;
  /** The ArtifactWorkflows that the Order owns, those being deleted included. The same array until one of them changes. */
  childrenOf(order: Order): readonly ArtifactWorkflow[];
  /** True if one of them has not finished. */
  hasUnfinished(order: Order): boolean;
  /** How many of them take a slot of its parallelism. */
  inFlightOf(order: Order): number;
  /** The plan of the Order by what it refers to now. */
  planOf(order: Order): OrderPlan;
  endpoint(namespace: string, name: string): Endpoint | undefined;
  /** True while an Order or ArtifactWorkflow that has not ended names the Endpoint. */
  isInUse(endpoint: Endpoint): boolean;
  /** The unfinished ArtifactWorkflows that the Endpoint limits. The same array until one of them changes. */
  limitedBy(endpoint: Endpoint): readonly ArtifactWorkflow[];
  /** How many of them take a slot. */
  inFlightAt(endpoint: Endpoint): number;
  /** The versions of the same artifact, and the unfinished ArtifactWorkflows that write to the same target; may include `workflow`. */
  conflictsOf(workflow: ArtifactWorkflow): readonly ArtifactWorkflow[];
  /** The Argo object that `currentWorkflow` names. */
  argoOf(workflow: ArtifactWorkflow): Workflow | CronWorkflow | undefined;
  /** The Workflow that a CronWorkflow has started last. */
  newestRunOf(schedule: CronWorkflow): Workflow | undefined;
  /** True where the ServiceAccount of knative/tenant is there. */
  hasTenantAccount(namespace: string): boolean;
  /** The resourceVersion of a Secret, '' where there is none; undefined where Secrets are not watched. */
  secretVersion(namespace: string, name: string): string | undefined;
}
