import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { WorkflowPhase } from '../kinds/phases.ts';
import { finalizers } from '../kinds/well-known.ts';

/** True once the deletion of the object was requested. */
export function isDeleting(object: { metadata: { deletionTimestamp?: string } }): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

/**
 * Returns the phase of the current attempt: Pending before the first one, and again once a further attempt was decided on, until
 * sync-status has seen its Workflow.
 */
export function phaseOf({ status = {} }: ArtifactWorkflow): WorkflowPhase {
  const { workflowRef, syncedAttempt = 1 } = status;
  const current = workflowRef === undefined || syncedAttempt === workflowRef.attempt;
  return current ? (status.phase ?? 'Pending') : 'Pending';
}

/** True for a final phase of an Argo Workflow, or of a node that is a pod. */
export function isCompleted(phase: string | undefined): boolean {
  return phase === 'Succeeded' || phase === 'Failed' || phase === 'Error';
}

/** How an attempt in this phase has ended; undefined while it has not. A new phase has to be classified here. */
const outcomes = {
  Pending: undefined,
  Queued: undefined,
  Running: undefined,
  Active: undefined,
  Succeeded: 'succeeded',
  Failed: 'failed',
  Error: 'failed',
  Stopped: 'stopped',
  Cancelled: 'cancelled',
} as const satisfies Record<WorkflowPhase, string | undefined>;

/** True for a phase that ends an attempt. Other texts, such as `Invalid` in an Order's entry, do not. */
export function isFinalPhase(phase: string | undefined): boolean {
  return (
    phase !== undefined && Object.hasOwn(outcomes, phase) && outcomes[phase as WorkflowPhase] !== undefined
  );
}

/** True if the last attempt has ended, in success or failure. A further attempt may follow: see `isFinished`. */
export function hasEnded(workflow: ArtifactWorkflow): boolean {
  return isFinalPhase(phaseOf(workflow));
}

/** True if the last attempt ended in failure. */
export function hasFailed(workflow: ArtifactWorkflow): boolean {
  return outcomes[phaseOf(workflow)] === 'failed';
}

/** True if the last attempt transferred nothing to completion: it failed, was stopped or was cancelled. */
export function wasUnsuccessful(workflow: ArtifactWorkflow): boolean {
  return hasEnded(workflow) && phaseOf(workflow) !== 'Succeeded';
}

/**
 * True if its deletion stopped a running attempt: its Order still needs the artifact. sync-status gives such an end no completionTime; an
 * attempt that ended before the deletion has one, and stays ended.
 */
export function isStoppedByDeletion({ metadata, status = {} }: ArtifactWorkflow): boolean {
  return (
    metadata.deletionTimestamp !== undefined &&
    status.phase === 'Stopped' &&
    status.completionTime === undefined
  );
}

/** True while submit-workflow has a Workflow to stop before the object may be removed. */
export function isHeld(workflow: ArtifactWorkflow): boolean {
  return workflow.metadata.finalizers?.includes(finalizers.workflow) === true;
}
