import { ownerOfKind } from '#shared/base/meta';
import { compareAge, compareRevision, conflictSelectors } from '../identity/artifact.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import { labels } from '../kinds/well-known.ts';
import { isFinished, owesAttempt } from '../lifecycle/attempts.ts';
import { holdOf } from '../lifecycle/current-hold.ts';
import { type Hold, needsPerson } from '../lifecycle/holds.ts';
import { hasEnded, isDeleting, isHeld, phaseOf } from '../lifecycle/phases.ts';
import { longestMessage } from '../values/limits.ts';
import { brief, cut } from '../values/text.ts';

/** Mutual exclusion at a destination: which of several writers to one target, or versions of one artifact, may start. */

/**
 * Returns selectors for the ArtifactWorkflows (see `conflictSelectors`) that can block the start of this one: the first version of an artifact has
 * no earlier versions, and later versions wait until it has ended.
 */
export function startSelectors(workflow: ArtifactWorkflow): string[] {
  const { metadata, spec, status } = workflow;
  const target = metadata.labels?.[labels.target];
  const isFirst = spec.revision === 1 && status?.workflowRef === undefined && !hasEnded(workflow);
  return isFirst && target !== undefined ? [`${labels.target}=${target}`] : conflictSelectors(workflow);
}

/** Returns the hold of an ArtifactWorkflow while another one occupies its place. */
export function placeInUse(workflow: ArtifactWorkflow): Hold {
  const hold = isDeleting(workflow) ? undefined : holdOf(workflow);
  const message = `ArtifactWorkflow "${workflow.metadata.name}", which writes to the same place, ${whyAhead(hold)}`;
  return { reason: 'PlaceInUse', message: cut(message, longestMessage) };
}

/** Says what to do if the blocking ArtifactWorkflow does not end by itself. */
function whyAhead(hold: Hold | undefined): string {
  if (hold?.reason === 'Suspended') return 'comes first and is suspended: resume its Order, or delete it';
  if (hold && needsPerson(hold.reason)) return `comes first and cannot start: ${brief(hold.message)}`;
  return 'has not ended';
}

/**
 * True if `other` has, or is entitled to, the single running Workflow that may write to the target. If neither has a Workflow, the one
 * that was put in force first goes first: the later one sees the earlier one, so none is overlooked.
 */
export function isAhead(other: ArtifactWorkflow, workflow: ArtifactWorkflow): boolean {
  if (other.metadata.name === workflow.metadata.name) return false;
  if (isDeleting(other)) return isHeld(other);
  if (hasEnded(other) && !owesAttempt(other)) return false;
  // A schedule never ends: schedules of other artifacts block only during their own runs.
  if (other.spec.cron && !isSameArtifact(other, workflow))
    return other.status?.activeWorkflowRef !== undefined;
  if (other.status?.workflowRef && !hasEnded(other)) return true;
  return !workflow.status?.workflowRef && wasPutInForceBefore(other, workflow);
}

/**
 * True for a workflow whose start may be in flight, decided before `workflow` existed: with equal times, or with another clock, the later one may
 * be first in line. Writing to it changes its resourceVersion, so its start conflicts and is decided again.
 */
export function mayStart(other: ArtifactWorkflow, workflow: ArtifactWorkflow): boolean {
  const { metadata, spec, status = {} } = other;
  if (metadata.name === workflow.metadata.name || isDeleting(other) || isFinished(other)) return false;
  if (spec.cron || spec.suspend === true || spec.cancel === true) return false;
  return isHeld(other) && status.configSecret !== undefined && (!status.workflowRef || hasEnded(other));
}

function isSameArtifact(a: ArtifactWorkflow, b: ArtifactWorkflow): boolean {
  const same = (label: string) => a.metadata.labels?.[label] === b.metadata.labels?.[label];
  return same(labels.order) && same(labels.artifact);
}

function wasPutInForceBefore(a: ArtifactWorkflow, b: ArtifactWorkflow): boolean {
  const sameOrder = a.metadata.labels?.[labels.order] === b.metadata.labels?.[labels.order];
  return (sameOrder ? compareRevision(a, b) : compareAge(a, b)) < 0;
}

/**
 * Returns the newest ArtifactWorkflow of another Order that has written to the place where `workflow` writes for the first time: its result is
 * overwritten. `conflicting` write to that place, or are versions of the same artifact.
 */
export function overwrittenBy(
  workflow: ArtifactWorkflow,
  conflicting: readonly ArtifactWorkflow[],
): ArtifactWorkflow | undefined {
  if (workflow.status?.workflowRef !== undefined) return undefined;
  const own = ownerOfKind(workflow, 'Order')?.uid;
  const others = conflicting.filter((other) => {
    const order = ownerOfKind(other, 'Order');
    return order !== undefined && order.uid !== own && hasArrived(other);
  });
  return others.sort(compareAge).at(-1);
}

function hasArrived(workflow: ArtifactWorkflow): boolean {
  return phaseOf(workflow) === 'Succeeded' || (workflow.status?.succeeded ?? 0) > 0;
}
