import { mergePatchBetween, sameJson } from '#shared/base/meta';
import { policyFields, revisionOf } from '../identity/artifact.ts';
import type { ArtifactWorkflow, ArtifactWorkflowSpec } from '../kinds/artifact-workflow.ts';
import type { Order } from '../kinds/order.ts';
import { annotations, finalizers, labels, unixSeconds } from '../kinds/well-known.ts';
import { isFinished } from '../lifecycle/attempts.ts';
import { hasFailed, isDeleting, wasUnsuccessful } from '../lifecycle/phases.ts';
import { answersForce, causeOf, retryCause } from './cause.ts';
import { type CurrentVersion, currentVersions, mayGoOn } from './current.ts';
import type { OrderPlan, PlannedArtifact } from './plan.ts';

/** A merge patch (RFC 7386) for one ArtifactWorkflow. */
export interface ChildPatch {
  workflow: ArtifactWorkflow;
  patch: {
    spec?: Record<string, unknown>;
    metadata?: { annotations?: Record<string, string | null>; labels?: Record<string, string> };
  };
}

export interface ChildDecision {
  /** The Order's own finalizer: added before any child is created. */
  finalizer: 'add' | 'keep';
  create: ArtifactWorkflow[];
  /**
   * No longer wanted: deleted after the creates; their finalizer stops the Workflow first. Deleted before the creates, a crash in between
   * would leave no trace of the version that is newer than the wanted one.
   */
  stop: ArtifactWorkflow[];
  /** Finished and beyond the history limit: deleted, guarded by resourceVersion. */
  remove: ArtifactWorkflow[];
  /** Superseded by a version in force, or by one of the creates: announced once, and labelled if they stay as history. */
  superseded: SupersededVersion[];
  patches: ChildPatch[];
}

export interface SupersededVersion {
  workflow: ArtifactWorkflow;
  /** Of the version that supersedes it. */
  revision: number;
  /** False if it is about to be deleted. */
  stays: boolean;
}

/**
 * Decides how the existing ArtifactWorkflows become those of the plan. `existing` are all that the Order owns, including those being deleted,
 * read before the plan. Idempotent: after its writes, the decision is to do nothing.
 */
export function decideChildren(
  order: Order,
  plan: OrderPlan,
  existing: readonly ArtifactWorkflow[],
): ChildDecision {
  const held = order.metadata.finalizers?.includes(finalizers.children) === true;
  const current = currentVersions(order, plan, existing);
  const retryAt = unixSeconds(order.metadata.annotations?.[annotations.retryAt]);
  const missing = current.filter(
    ({ artifact, workflow, recorded }) =>
      artifact.state === 'ready' &&
      artifact.cancel !== true &&
      !workflow &&
      (!recorded || retryWanted(recorded, retryAt)),
  );
  const create = missing.flatMap((one) => (earlierOfName(one) ? [] : made(one, retryAt)));
  const patches = current.flatMap(({ artifact, workflow }) =>
    workflow && !isDeleting(workflow) ? patchFor(artifact, workflow, retryAt) : [],
  );
  return {
    finalizer: held ? 'keep' : 'add',
    create,
    ...retire(current, existing, plan.historyLimit),
    patches,
  };
}

/** True if the only change to an Order since `before` is its first status, in which nothing has ended yet. */
export function hasFirstStatusOnly(before: Order, now: Order): boolean {
  const { resourceVersion: _before, managedFields: _owners, ...asked } = before.metadata;
  const { resourceVersion: _now, managedFields: _theirs, ...asks } = now.metadata;
  const entries = Object.values(now.status?.artifactWorkflows ?? {});
  return (
    sameJson(asked, asks) &&
    before.status?.artifactWorkflows === undefined &&
    entries.every(({ completionTime }) => completionTime === undefined)
  );
}

/** Decides which children of a deleted Order to stop, and whether the Order may be removed. Needs no plan: its inputs may be gone. */
export function decideDeletion(
  order: Order,
  existing: readonly ArtifactWorkflow[],
): { stop: ArtifactWorkflow[]; letGo: boolean } {
  // Deleted with propagationPolicy Orphan: the garbage collector makes the children independent, and they continue.
  if (order.metadata.finalizers?.includes('orphan')) return { stop: [], letGo: true };
  return { stop: existing.filter((workflow) => !isDeleting(workflow)), letGo: existing.length === 0 };
}

/** Returns an earlier version with the wanted name: it must be deleted before the name is free. */
function earlierOfName({ artifact, versions }: CurrentVersion): ArtifactWorkflow | undefined {
  if (artifact.state !== 'ready') return undefined;
  const { name } = artifact.workflow.metadata;
  return versions.find(({ metadata }) => metadata.name === name);
}

function made(
  { artifact, recorded, versions, revision = 1 }: CurrentVersion,
  retryAt: number,
): ArtifactWorkflow[] {
  if (artifact.state !== 'ready') return [];
  const { metadata, spec } = artifact.workflow;
  const [earlier] = versions;
  const cause = recorded ? retryCause : earlier && causeOf(artifact.workflow, earlier);
  const notes = {
    ...metadata.annotations,
    ...(cause === undefined ? {} : { [annotations.cause]: cause }),
    ...(recorded ? { [annotations.retryAt]: String(retryAt) } : {}),
  };
  const noted = Object.keys(notes).length > 0 ? { ...metadata, annotations: notes } : metadata;
  const isForced = spec.verify === undefined && answersForce(artifact.workflow, versions);
  const verify = isForced ? ({ verify: 'OnForce' } as const) : {};
  return [{ ...artifact.workflow, metadata: noted, spec: { ...spec, revision, ...verify } }];
}

function retryWanted(entry: { phase: string; completionTime?: string }, retryAt: number): boolean {
  const failed = entry.phase === 'Failed' || entry.phase === 'Error' || entry.phase === 'Stopped';
  return failed && retryAt * 1000 >= Date.parse(entry.completionTime ?? '');
}

function retire(
  current: readonly CurrentVersion[],
  existing: readonly ArtifactWorkflow[],
  historyLimit: number,
) {
  const left = new Set(existing.filter((workflow) => !isDeleting(workflow)));
  const retired = current.flatMap((one) => {
    const obsolete = one.versions.filter((version) => left.delete(version) && version !== one.workflow);
    if (one.artifact.state === 'ready') return [retireVersions(one, obsolete, historyLimit)];
    // While an artifact cannot be planned its versions are left alone, because its inputs may be back in a moment: except what a policy forbids.
    const stop = obsolete.filter((version) => !isFinished(version) && !mayGoOn(one.artifact, version));
    return [{ stop, remove: [], superseded: [] }];
  });
  // An unnamed artifact that cannot be planned does not tell which of the others are its earlier versions.
  const isDecided = current.every(({ artifact }) => artifact.state === 'ready');
  const dropped = [...left];
  return {
    superseded: retired.flatMap(({ superseded }) => superseded),
    stop: [...retired.flatMap(({ stop }) => stop), ...dropped.filter((workflow) => !isFinished(workflow))],
    remove: [
      ...retired.flatMap(({ remove }) => remove),
      ...dropped.filter((workflow) => isDecided && isFinished(workflow)),
    ],
  };
}

function retireVersions(one: CurrentVersion, obsolete: readonly ArtifactWorkflow[], historyLimit: number) {
  const inTheWay = one.workflow || one.recorded ? undefined : earlierOfName(one);
  // The others show that a newer version existed; they are deleted once the new version exists.
  if (inTheWay) {
    const stop = obsolete.filter((version) => version === inTheWay);
    return { stop, remove: [], superseded: [] };
  }
  const stop = obsolete.filter((version) => !isFinished(version));
  const finished = obsolete.filter((version) => isFinished(version));
  const revision = one.workflow ? revisionOf(one.workflow) : (one.revision ?? 1);
  const superseded = [
    ...stop.map((workflow) => ({ workflow, revision, stays: false })),
    ...finished.slice(0, historyLimit).map((workflow) => ({ workflow, revision, stays: true })),
  ].filter(({ workflow }) => workflow.metadata.labels?.[labels.superseded] === undefined);
  return { stop, remove: finished.slice(historyLimit), superseded };
}

function patchFor(artifact: PlannedArtifact, actual: ArtifactWorkflow, retryAt: number): ChildPatch[] {
  // An artifact that cannot be planned stays as it is. A cancel needs no plan.
  const planned = artifact.state === 'ready' ? artifact.workflow : undefined;
  const retry = planned && retryAnnotation(actual, retryAt);
  const cancel = cancelPatch(artifact.cancel === true, actual, retry !== undefined);
  const spec = { ...(planned && policyPatch(planned.spec, actual, retry !== undefined)), ...cancel.spec };
  const notes = { ...retry, ...cancel.annotations };
  const label = planned && targetLabel(planned, actual, retry !== undefined);
  const metadata = {
    ...(Object.keys(notes).length > 0 ? { annotations: notes } : {}),
    ...(label === undefined ? {} : { labels: label }),
  };
  const patch = {
    ...(Object.keys(spec).length > 0 ? { spec } : {}),
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
  };
  return Object.keys(patch).length > 0 ? [{ workflow: actual, patch }] : [];
}

/**
 * Makes `spec.cancel` follow the Order. A cancel that was requested on the ArtifactWorkflow itself, and so has no annotation, is undone
 * there, or by a retry of the Order.
 */
function cancelPatch(
  wanted: boolean,
  { metadata, spec }: ArtifactWorkflow,
  retried: boolean,
): { spec?: { cancel: true | null }; annotations?: Record<string, string | null> } {
  const follows = metadata.annotations?.[annotations.orderCancel] !== undefined;
  if (wanted && spec.cancel !== true)
    return { spec: { cancel: true }, annotations: { [annotations.orderCancel]: 'true' } };
  if (!wanted && follows) return { spec: { cancel: null }, annotations: { [annotations.orderCancel]: null } };
  if (!wanted && retried && spec.cancel === true) return { spec: { cancel: null } };
  return {};
}

/**
 * Returns the label of the place that an ArtifactWorkflow writes to, if it lacks the current label: an earlier release made it, or its type
 * names other target parameters now. An ended ArtifactWorkflow writes no more, and a version that is kept although its inputs have changed
 * writes to another place than the planned one.
 */
function targetLabel(
  planned: ArtifactWorkflow,
  actual: ArtifactWorkflow,
  retried: boolean,
): Record<string, string> | undefined {
  const wanted = planned.metadata.labels?.[labels.target];
  if (planned.metadata.name !== actual.metadata.name || (isFinished(actual) && !retried)) return undefined;
  return wanted === undefined || wanted === actual.metadata.labels?.[labels.target]
    ? undefined
    : { [labels.target]: wanted };
}

/** A final failure keeps its retry policy until a rerun is requested: a new policy re-runs nothing. */
function policyPatch(wanted: ArtifactWorkflowSpec, actual: ArtifactWorkflow, retried: boolean) {
  const kept = ['cancel', ...(hasFailed(actual) && isFinished(actual) && !retried ? ['retry'] : [])];
  const policy = (spec: ArtifactWorkflowSpec) =>
    Object.fromEntries(policyFields.flatMap((field) => (kept.includes(field) ? [] : [[field, spec[field]]])));
  return mergePatchBetween(policy(actual.spec), policy(wanted));
}

// The retry applies to artifacts that had failed or were stopped or cancelled at its time, not to later failures.
function retryAnnotation(workflow: ArtifactWorkflow, retryAt: number): Record<string, string> | undefined {
  const before = workflow.metadata.annotations?.[annotations.retryAt];
  if (retryAt === 0 || !wasUnsuccessful(workflow) || unixSeconds(before) >= retryAt) return undefined;
  const ended = Date.parse(workflow.status?.completionTime ?? '');
  return Number.isNaN(ended) || retryAt * 1000 >= ended
    ? { [annotations.retryAt]: String(retryAt), [annotations.cause]: retryCause }
    : undefined;
}
