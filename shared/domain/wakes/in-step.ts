import { keyOf } from '../identity/artifact.ts';
import type { Workflow } from '../kinds/argo.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Order } from '../kinds/order.ts';
import { isDeleting, isFinalPhase, phaseOf } from '../lifecycle/phases.ts';
import { isUnderWay } from '../submission/submission.ts';
import { syncedStatus } from '../sync/status.ts';
import { isForceOwed, isRetryOwed } from '../ttl/due.ts';

/**
 * True for an ArtifactWorkflow that runs, and whose status says of its Workflow what there is to say: nobody has anything to do for it
 * before one of the two changes. `argo` is its Workflow as last seen, nodes left out.
 */
export function isInStep(workflow: ArtifactWorkflow, argo: Workflow | undefined, now: Date): boolean {
  const { configSecret, observedGeneration } = workflow.status ?? {};
  if (phaseOf(workflow) !== 'Running' || !isUnderWay(workflow)) return false;
  if (configSecret === undefined || observedGeneration !== workflow.metadata.generation) return false;
  if (argo?.status?.phase !== 'Running' || isDeleting(argo)) return false;
  return syncedStatus(workflow, argo, now) === undefined;
}

/**
 * True for an Order all of whose artifacts run or have ended, as its status says: it waits for those that run. `children` are its
 * ArtifactWorkflows as last seen. Whether its inputs have changed is another question.
 */
export function isOrderInStep(order: Order, children: readonly ArtifactWorkflow[]): boolean {
  const { artifactWorkflows: entries = {}, phase, observedGeneration } = order.status ?? {};
  if (phase !== 'Running' || isDeleting(order) || observedGeneration !== order.metadata.generation)
    return false;
  if (isForceOwed(order) || isRetryOwed(order)) return false;
  if (children.length === 0 || Object.keys(entries).length !== children.length) return false;
  return children.every((child) => {
    const shown = entries[keyOf(child)];
    const is = phaseOf(child);
    return shown?.phase === is && !isDeleting(child) && (is === 'Running' || isFinalPhase(is));
  });
}
