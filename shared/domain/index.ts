/** The pure heart of the conduit: kinds, plans, names, phases and the table of wakes. No I/O and no clock. */

export { canonicalJson, sameJson, shortHash } from './canonical.ts';
export { type Adjustment, type ChildDecision, decideChildren } from './children.ts';
export { type Current, currentOf } from './current.ts';
export { parseDuration } from './duration.ts';
export { type Job, type JobCredentials, type JobEndpoint, jobSchema } from './job.ts';
export type {
  CronWorkflow,
  OutputParameter,
  Workflow,
  WorkflowNode,
  WorkflowSpec,
  WorkflowStatus,
  WorkflowTemplate,
} from './kinds/argo.ts';
export type { ArtifactType, ArtifactTypeSpec } from './kinds/artifact-type.ts';
export type {
  ArtifactWorkflow,
  ArtifactWorkflowSpec,
  ArtifactWorkflowStatus,
  EndpointRef,
  TransferResults,
  WorkflowPhase,
  WorkflowReference,
} from './kinds/artifact-workflow.ts';
export type { ConfigMap, KubeEvent, Namespace, Secret } from './kinds/core.ts';
export type { Endpoint, EndpointSpec, EndpointStatus, EndpointTls, Usage } from './kinds/endpoint.ts';
export type {
  AnyObject,
  Condition,
  Cron,
  Duration,
  Json,
  Metadata,
  OwnerReference,
  Parameter,
  Ref,
  Reference,
  RetryPolicy,
  WorkflowTemplateRef,
} from './kinds/meta.ts';
export type {
  Artifact,
  ArtifactStatus,
  OnChange,
  Order,
  OrderCounts,
  OrderPhase,
  OrderSpec,
  OrderStatus,
} from './kinds/order.ts';
export * from './kinds/refs.ts';
export { absentSecretName, annotations, finalizers, jobKey, labels } from './marks.ts';
export { artifactWorkflowName, cronWorkflowName, isLabelValue, keyOfName, workflowName } from './names.ts';
export { effectiveSpec, flatten, type ParameterInputs, parametersFor } from './parameters.ts';
export {
  hasEnded,
  hasFailed,
  isDeleting,
  isFinished,
  isHeld,
  nextAttemptMs,
  owesAttempt,
  rerunAsked,
} from './phases.ts';
export {
  type OrderPlan,
  type PlanDefaults,
  type PlanInputs,
  type PlannedArtifact,
  planOrder,
} from './plan.ts';
