import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import type { Order } from '../kinds/order.ts';
import { currentWorkflow, isFinished, nextAttemptMs, owesAttempt } from '../lifecycle/attempts.ts';
import { hasEnded, isDeleting, isHeld } from '../lifecycle/phases.ts';
import { unseenReason } from '../plan/endpoint-use.ts';
import { stopGraceMs } from '../submission/submission.ts';
import { artifactWorkflowExpiry, orderExpiry } from './ttl.ts';

/** The next time at which an Order must be looked at though nothing changes; undefined if there is none. */
export function orderDue(order: Order): Date | undefined {
  return orderExpiry(order);
}

/** The same for an ArtifactWorkflow: the next attempt, the deadline of a Workflow that is being stopped, or its expiry. */
export function artifactWorkflowDue(workflow: ArtifactWorkflow, order: Order | undefined): Date | undefined {
  if (isDeleting(workflow)) return isHeld(workflow) ? stopDue(workflow) : undefined;
  if (hasEnded(workflow) && owesAttempt(workflow)) {
    // A suspended one waits for a change of its spec, not for a time.
    if (workflow.spec.suspend === true) return undefined;
    return new Date(Math.ceil(nextAttemptMs(workflow) / 1000) * 1000);
  }
  return artifactWorkflowExpiry(workflow, order);
}

function stopDue(workflow: ArtifactWorkflow): Date | undefined {
  const requested = Date.parse(workflow.metadata.deletionTimestamp ?? '');
  if (Number.isNaN(requested)) return undefined;
  const single = currentWorkflow(workflow).kind === 'Workflow';
  return new Date(requested + (single ? 1 : 2) * stopGraceMs);
}

/** True when an Order, ArtifactWorkflow or Endpoint is in the state that its spec asks for; others are resynced often. */
export function isSettled(object: Order | ArtifactWorkflow | Endpoint): boolean {
  if (isDeleting(object)) return false;
  if (object.kind === 'Endpoint') return unseenReason(object as Endpoint) === undefined;
  if (object.kind === 'ArtifactWorkflow') return isFinished(object as ArtifactWorkflow);
  const { status, metadata } = object as Order;
  if (status?.observedGeneration !== metadata.generation) return false;
  return status?.conditions?.some(({ type, status: yes }) => type === 'Ready' && yes === 'True') === true;
}
