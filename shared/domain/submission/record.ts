import { compareRevision, keyOf } from '../identity/artifact.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Order } from '../kinds/order.ts';
import { labels } from '../kinds/well-known.ts';
import { isFinished } from '../lifecycle/attempts.ts';
import { isDeleting, phaseOf } from '../lifecycle/phases.ts';

/**
 * True if nothing is forgotten when a finished ArtifactWorkflow goes: its Order's status shows how it ended, or shows in its present
 * generation that it asks for another version, or there is no Order that would run it again. `order` is its owner, if it exists.
 */
export function isEndRecorded(workflow: ArtifactWorkflow, order: Order | undefined): boolean {
  if (order === undefined || isDeleting(order) || !leavesRecord(workflow)) return true;
  const { completionTime } = workflow.status ?? {};
  const entry = order.status?.artifactWorkflows?.[keyOf(workflow)];
  if (entry) return entry.phase === phaseOf(workflow) && entry.completionTime === completionTime;
  return order.status?.observedGeneration === order.metadata.generation;
}

/** True if its end is to be seen in the status of its Order, which would run it again otherwise. */
export function leavesRecord(workflow: ArtifactWorkflow): boolean {
  // One that was stopped because it is being deleted has not finished: it is to run again.
  if (!isFinished(workflow) || workflow.status?.completionTime === undefined) return false;
  // Nor has one that was cancelled: the Order keeps no record of it.
  return phaseOf(workflow) !== 'Cancelled';
}

/** True if a later version of the artifact is there: whatever this one has done is history, and its name may be needed. */
export function isOverwritten(workflow: ArtifactWorkflow, rivals: readonly ArtifactWorkflow[]): boolean {
  const orderOf = ({ metadata }: ArtifactWorkflow) => metadata.labels?.[labels.order];
  return rivals.some((rival) => orderOf(rival) === orderOf(workflow) && compareRevision(rival, workflow) > 0);
}
