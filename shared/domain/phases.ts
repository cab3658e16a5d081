import { parseDuration } from './duration.ts';
import type { ArtifactWorkflow, WorkflowPhase } from './kinds/artifact-workflow.ts';
import { annotations, finalizers } from './marks.ts';
import { unixSeconds } from './plan/effective.ts';

const defaultBackoffMs = 10_000;
const longestBackoffMs = 3_600_000;
/** The worker's reasons for which another try cannot help. */
const hopeless = new Set(['permanent', 'denied', 'auth', 'config']);

/** True while somebody wants the object gone. */
export function isDeleting(object: { metadata: { deletionTimestamp?: string } }): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

/**
 * The phase of the attempt in force: Pending before the first, and again once a further attempt has been decided on, until
 * sync-status has seen its Workflow.
 */
export function phaseOf({ status = {} }: ArtifactWorkflow): WorkflowPhase {
  const current = (status.syncedAttempt ?? 1) === (status.workflowRef?.attempt ?? 1);
  return current ? (status.phase ?? 'Pending') : 'Pending';
}

const finalPhases: ReadonlySet<WorkflowPhase> = new Set(['Succeeded', 'Failed', 'Error', 'Stopped']);

/** True for a phase that is the last of an attempt. */
export function isFinalPhase(phase: WorkflowPhase): boolean {
  return finalPhases.has(phase);
}

/** True if the last attempt has ended, well or badly. A later attempt may still follow: see `isFinished`. */
export function hasEnded(workflow: ArtifactWorkflow): boolean {
  return isFinalPhase(phaseOf(workflow));
}

/** True if the last attempt ended in failure. */
export function hasFailed(workflow: ArtifactWorkflow): boolean {
  const phase = phaseOf(workflow);
  return phase === 'Failed' || phase === 'Error';
}

/** True when nothing more will happen by itself: ended, and no attempt owed. */
export function isFinished(workflow: ArtifactWorkflow): boolean {
  return hasEnded(workflow) && !owesAttempt(workflow);
}

/** True if the retry policy or an annotation asks for an attempt after the one that ended. */
export function owesAttempt(workflow: ArtifactWorkflow): boolean {
  return hasEnded(workflow) && (rerunAsked(workflow) !== undefined || retryAllowed(workflow));
}

/** The time of a rerun annotation (Unix seconds) that no attempt has answered yet. */
export function rerunAsked(workflow: ArtifactWorkflow): number | undefined {
  const { annotations: notes = {} } = workflow.metadata;
  const retryAt = hasFailed(workflow) ? unixSeconds(notes[annotations.retryAt]) : 0;
  const asked = Math.max(retryAt, unixSeconds(notes[annotations.forceAt]));
  return asked > (workflow.status?.workflowRef?.rerunAt ?? 0) ? asked : undefined;
}

function retryAllowed(workflow: ArtifactWorkflow): boolean {
  const { spec, status } = workflow;
  if (!hasFailed(workflow) || hopeless.has(status?.results?.reason ?? '')) return false;
  return (status?.attempts ?? 1) <= (spec.retry?.limit ?? 0);
}

/** When the next attempt after a failure is due, in Unix milliseconds: the backoff, doubled per attempt, at most an hour. */
export function nextAttemptMs(workflow: ArtifactWorkflow): number {
  const { spec, status } = workflow;
  const first = parseDuration(spec.retry?.backoff ?? '') ?? defaultBackoffMs;
  const wait = Math.min(first * 2 ** Math.max(0, (status?.attempts ?? 1) - 1), longestBackoffMs);
  const ended = Date.parse(status?.completionTime ?? '');
  return (Number.isNaN(ended) ? 0 : ended) + Math.max(0, wait);
}

/**
 * True if it was under way when it was deleted, and stopped for that: its Order still wants what it was made for. What had ended
 * before has ended.
 */
export function isStoppedByDeletion({ metadata, status = {} }: ArtifactWorkflow): boolean {
  const { deletionTimestamp } = metadata;
  if (deletionTimestamp === undefined || status.phase !== 'Stopped') return false;
  return !(Date.parse(status.completionTime ?? '') < Date.parse(deletionTimestamp));
}

/** True while submit-workflow has something to stop before the object may go. */
export function isHeld(workflow: ArtifactWorkflow): boolean {
  return workflow.metadata.finalizers?.includes(finalizers.workflow) === true;
}
