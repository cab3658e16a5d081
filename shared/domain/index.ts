/** The pure heart of the conduit: kinds, plans, names, phases and the table of wakes. No I/O and no clock. */

export { canonicalJson, sameJson, shortHash } from './canonical.ts';
export { type Adjustment, type ChildDecision, decideChildren } from './children.ts';
export { conditionsFor, transition } from './conditions.ts';
export { type CredentialPatch, type DigestKey, trackedCredentials } from './credentials.ts';
export { type Current, currentOf } from './current.ts';
export { artifactWorkflowDue, isSettled, orderDue } from './due.ts';
export { parseDuration } from './duration.ts';
export { cut } from './entry.ts';
export { failureMessage } from './failure.ts';
export { instantOf } from './instant.ts';
export { type Job, type JobCredentials, type JobEndpoint, jobSchema } from './job.ts';
export { arcKinds } from './kinds/arc-kinds.ts';
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
export type { ArcColumn, ArcKind } from './kinds/definition.ts';
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
export {
  type ArtifactWord,
  artifactMilestone,
  type Milestone,
  type OrderWord,
  orderMilestone,
} from './milestones.ts';
export { artifactWorkflowName, cronWorkflowName, isLabelValue, keyOfName, workflowName } from './names.ts';
export { isOwnedBy, type Ownership, ownerOfKind, ownerReference, owners } from './owners.ts';
export { effectiveSpec, flatten, type ParameterInputs, parametersFor } from './parameters.ts';
export {
  hasEnded,
  hasFailed,
  isDeleting,
  isFinalPhase,
  isFinished,
  isHeld,
  nextAttemptMs,
  owesAttempt,
  phaseOf,
  rerunAsked,
} from './phases.ts';
export {
  type OrderPlan,
  type PlanDefaults,
  type PlanInputs,
  type PlannedArtifact,
  planOrder,
} from './plan.ts';
export { furtherProgress, parseProgress } from './progress.ts';
export {
  credentialsOf,
  needsConfiguration,
  type RenderInputs,
  type Rendering,
  renderConfiguration,
} from './render.ts';
export { resultsOf } from './results.ts';
export { isoSeconds, rollUp, statusPatch } from './rollup.ts';
export { rollUpInterval } from './rollup-interval.ts';
export { isQueued, type SyncExtras, type SyncPatch, syncedStatus } from './status.ts';
export {
  currentWorkflow,
  decideSubmission,
  isUnderWay,
  needsRunning,
  type Submission,
  type SubmissionInputs,
  stopGraceMs,
} from './submission.ts';
export {
  type TemplateRef,
  templateKey,
  templateKeyOf,
  templatesUsed,
} from './templates.ts';
export { artifactWorkflowExpiry, orderExpiry } from './ttl.ts';
export { type WakeRule, wakeTable } from './wake-table.ts';
export {
  type Change,
  type Reason,
  rootUid,
  type WakeIndex,
  type WakeObject,
  type WakeTarget,
  type Waking,
  wakesFor,
  wakingOf,
} from './wakes.ts';
export { type WorkflowOptions, workflowFor } from './workflow.ts';
