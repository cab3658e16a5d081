import { compareRevision, keyOf } from '../identity/artifact.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Order } from '../kinds/order.ts';
import { labels } from '../kinds/well-known.ts';
import { isFinished } from '../lifecycle/attempts.ts';
import { isDeleting, phaseOf } from '../lifecycle/phases.ts';

/**
 * True if no information is lost when a finished ArtifactWorkflow is deleted: its Order's status records its end, or shows in the current
 * generation that another version is wanted, or no Order would run it again. `order` is its owner, if it exists.
 */
export function isEndRecorded(workflow: ArtifactWorkflow, order: Order | undefined): boolean {
  if (order === undefined || isDeleting(order) || !leavesRecord(workflow)) return true;
  const { completionTime } = workflow.status ?? {};
  const entry = order.status?.artifactWorkflows?.[keyOf(workflow)];
  if (entry) return entry.phase === phaseOf(workflow) && entry.completionTime === completionTime;
  return order.status?.observedGeneration === order.metadata.generation;
}

/** True if the status of its Order has to record its end: without the record the Order would run the artifact again. */
export function leavesRecord(workflow: ArtifactWorkflow): boolean {
  // A run that its deletion stopped has not finished: it runs again.
  if (!isFinished(workflow) || workflow.status?.completionTime === undefined) return false;
  // The Order records no cancelled artifacts.
  return phaseOf(workflow) !== 'Cancelled';
}

/** True if a later version of the artifact exists: this one is history, and its name may be needed. */
export function isOverwritten(workflow: ArtifactWorkflow, conflicting: readonly ArtifactWorkflow[]): boolean {
  const orderOf = ({ metadata }: ArtifactWorkflow) => metadata.labels?.[labels.order];
  return conflicting.some(
    (other) => orderOf(other) === orderOf(workflow) && compareRevision(other, workflow) > 0,
  );
}
