import type { ArtifactWorkflow, WorkflowPhase } from '../kinds/artifact-workflow.ts';
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

const finalPhases: ReadonlySet<WorkflowPhase> = new Set([
  'Succeeded',
  'Failed',
  'Error',
  'Stopped',
  'Cancelled',
]);

/** True for a phase that ends an attempt. */
export function isFinalPhase(phase: WorkflowPhase): boolean {
  return finalPhases.has(phase);
}

/** True if the last attempt has ended, in success or failure. A further attempt may follow: see `isFinished`. */
export function hasEnded(workflow: ArtifactWorkflow): boolean {
  return isFinalPhase(phaseOf(workflow));
}

/** True if the last attempt ended in failure. */
export function hasFailed(workflow: ArtifactWorkflow): boolean {
  const phase = phaseOf(workflow);
  return phase === 'Failed' || phase === 'Error';
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
