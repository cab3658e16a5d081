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
  const { completionTime } = workflow.status ?? {};
  if (order === undefined || isDeleting(order)) return true;
  // One that was stopped because it is being deleted has not finished: it is to run again.
  if (!isFinished(workflow) || completionTime === undefined) return true;
  // Nor has one that was cancelled: the Order keeps no record of it.
  if (phaseOf(workflow) === 'Cancelled') return true;
  const entry = order.status?.artifactWorkflows?.[keyOf(workflow)];
  if (entry) return entry.phase === phaseOf(workflow) && entry.completionTime === completionTime;
  return order.status?.observedGeneration === order.metadata.generation;
}

/** True if a later version of the artifact is there: whatever this one has done is history, and its name may be needed. */
export function isOverwritten(workflow: ArtifactWorkflow, rivals: readonly ArtifactWorkflow[]): boolean {
  const orderOf = ({ metadata }: ArtifactWorkflow) => metadata.labels?.[labels.order];
  return rivals.some((rival) => orderOf(rival) === orderOf(workflow) && compareRevision(rival, workflow) > 0);
}
