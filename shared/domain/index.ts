/** The pure heart of the conduit: kinds, plans, names, phases and duties. No I/O and no clock. */

export { type ActionName, type ActionRequest, actions, requestOf } from './actions/requested-by.ts';
export { arcKinds } from './definitions/arc-kinds.ts';
export type { ArcColumn, ArcKind } from './definitions/definition.ts';
export { nextAt, nextOf } from './duties/artifact-workflow-duties.ts';
export { duties, isSettled } from './duties/duties.ts';
export { type Duty, isDue, type Look, type Work } from './duties/duty.ts';
export { isSecretMissing } from './duties/endpoint-duties.ts';
export { paceOf } from './duties/order-duties.ts';
export { isInShard, type Rooted, rootUid, type Shard, shardOf, wholeShard } from './duties/shards.ts';
export { type DutyKind, dutyKinds, hasDuties, isStep, type Step, stepNames, steps } from './duties/steps.ts';
export type { View } from './duties/view.ts';
export {
  artifactIdOf,
  childSelector,
  conflictSelectors,
  endpointsUsed,
  keyOf,
  withDefaults,
} from './identity/artifact.ts';
export { isLabelValue, isObjectName, keyOfName } from './identity/names.ts';
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
  WorkflowReference,
} from './kinds/artifact-workflow.ts';
export type {
  Condition,
  Cron,
  Duration,
  Parameter,
  Reference,
  RetryPolicy,
  WorkflowTemplateRef,
} from './kinds/common.ts';
export type { ConfigMap, KubeEvent, Namespace, Pod, Secret } from './kinds/core.ts';
export type { Endpoint, EndpointSpec, EndpointStatus, EndpointTls, Usage } from './kinds/endpoint.ts';
export type { ObjectOf, Ref } from './kinds/meta.ts';
export type {
  Artifact,
  ArtifactStatus,
  OnChange,
  Order,
  OrderCounts,
  OrderSpec,
  OrderStatus,
} from './kinds/order.ts';
export { type OrderPhase, orderPhases, type WorkflowPhase, workflowPhases } from './kinds/phases.ts';
export * from './kinds/refs.ts';
export { mayBe, type Side } from './kinds/usage.ts';
export {
  annotations,
  bundleType,
  finalizers,
  jobKey,
  labels,
  tenantAccount,
  unixSeconds,
} from './kinds/well-known.ts';
export {
  currentWorkflow,
  isFinished,
  missingAccount,
  owesAttempt,
} from './lifecycle/attempts.ts';
export { deliveredCondition, undelivered, wakeRefused } from './lifecycle/delivery.ts';
export { type EventReason, eventReasons } from './lifecycle/event-reasons.ts';
export {
  gracePeriodMs,
  type Hold,
  type HoldReason,
  holdReasons,
  holdStatus,
  needsPerson,
} from './lifecycle/holds.ts';
export { hasEnded, isCompleted, isDeleting, isFinalPhase, phaseOf } from './lifecycle/phases.ts';
export { transition } from './lifecycle/transition.ts';
export { completedByHand, type ShortForm } from './plan/by-hand.ts';
export { type Rerun, rerunsIn } from './plan/cause.ts';
export {
  type ChildDecision,
  type ChildPatch,
  decideChildren,
  decideDeletion,
  hasFirstStatusOnly,
} from './plan/children.ts';
export { type CurrentVersion, currentVersions } from './plan/current.ts';
export { forceTime, isForceOwed } from './plan/effective.ts';
export { appliesPolicies, policyTypes } from './plan/enforced.ts';
export { inputsKey, type PlanInputs, typesUsed } from './plan/inputs.ts';
export { type ParameterInputs, parameterName } from './plan/parameters.ts';
export { type OrderPlan, type PlannedArtifact, planOrder } from './plan/plan.ts';
export { mostRefusals, type Refusals, refusalNote, refusalsOf } from './plan/refusals.ts';
export {
  type TemplateRef,
  templateKey,
  templateKeyOf,
  templatesUsed,
} from './plan/templates.ts';
export { endpointConditions, type Findings, validationReasons } from './probe/conditions.ts';
export { isUnprobed, probeDue, probeSubject } from './probe/due.ts';
export { type Validation, validateEndpoint } from './probe/validate.ts';
export {
  type CredentialData,
  type CredentialPatch,
  type DigestKey,
  trackedCredentials,
} from './render/credentials.ts';
export { type Job, type JobCredentials, type JobEndpoint, parseJob } from './render/job.ts';
export { type JobPolicy, parsePolicies, policyTexts } from './render/policies.ts';
export { parsePolicy, type TransferPolicy } from './render/policy.ts';
export {
  configurationRemoved,
  needsConfiguration,
  type RenderInputs,
  type Rendering,
  renderConfiguration,
} from './render/render.ts';
export { conditionsFor } from './roll-up/conditions.ts';
export { shownOf } from './roll-up/entry.ts';
export {
  type Announced,
  type ArtifactMilestone,
  artifactMilestones,
  firstAnnounced,
  isAnnounced,
  lastMilestone,
  type Milestone,
  type OrderMilestone,
  orderMilestones,
} from './roll-up/milestones.ts';
export { rollUp, staleAt, staleness } from './roll-up/rollup.ts';
export { rollUpInterval } from './roll-up/rollup-interval.ts';
export type { Schema } from './schema/schema.ts';
export { schemaCauses } from './schema/schema-causes.ts';
export { type PatternMatcher, valueCauses } from './schema/value-causes.ts';
export { featureCauses } from './settings/feature-causes.ts';
export { namespaceLimits, writeRateLimit } from './settings/namespace-limits.ts';
export {
  type Feature,
  features,
  isOn,
  isSettingKey,
  parseSettings,
  type SettingProblem,
  type Settings,
  settingsName,
  settingsTable,
} from './settings/settings.ts';
export { hasLostOwner, orphanPatch, ownerPatch } from './submission/adopt.ts';
export { startSelectors } from './submission/place.ts';
export { isEndRecorded, isOverwritten, leavesRecord } from './submission/record.ts';
export {
  endpointTurn,
  isInFlight,
  isRefused,
  limitingEndpoints,
  mayHavePassed,
  orderTurn,
  slotsWithout,
  type Turn,
} from './submission/slots.ts';
export {
  isAnyRun,
  isLostPod,
  isPodOfRuns,
  podSelector,
  runsOf,
  stopBegan,
} from './submission/stopped.ts';
export {
  decideSubmission,
  isOfPredecessor,
  needsRunning,
  type StatusPatch,
  type Submission,
  type SubmissionInputs,
} from './submission/submission.ts';
export { isUnreleased, releasePatch, type WorkflowOptions, workflowFor } from './submission/workflow.ts';
export { type AttemptEvent, attemptEvent, isRunFailure } from './sync/attempt-event.ts';
export type { LogTail } from './sync/failure.ts';
export {
  endOfLog,
  type FailedStep,
  isPodOf,
  mainContainer,
  mayQuoteLog,
  stepToQuote,
  type TailBounds,
} from './sync/log-tail.ts';
export { countsBytes, parseProgress } from './sync/progress.ts';
export { gatedPod, isQueued, placeInQueue, type QueuePlace } from './sync/queue.ts';
export { transferOutcome } from './sync/results.ts';
export { isSynced, type SyncExtras, type SyncPatch, syncedStatus } from './sync/status.ts';
export { artifactWorkflowExpiry, orderExpiry } from './ttl/ttl.ts';
export { invalidObject } from './validation/invalid-object.ts';
export {
  artifactWorkflowLimitCauses,
  endpointLimitCauses,
  orderLimitCauses,
} from './validation/limit-causes.ts';
export { isNew } from './validation/order-causes.ts';
export { specCauses } from './validation/spec-causes.ts';
export { parseDuration } from './values/duration.ts';
export { giveNamespace } from './values/give-namespace.ts';
export { shortHash, textDigest } from './values/hash.ts';
export { defaultRerunsPerMinute, longestObjectName } from './values/limits.ts';
export { createLineMasker } from './values/mask.ts';
export { parseQuantity } from './values/quantity.ts';
export { cut } from './values/text.ts';
