import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import type { Order } from '../kinds/order.ts';
import { annotations, unixSeconds } from '../kinds/well-known.ts';
import { currentWorkflow, isFinished, nextAttemptMs, owesAttempt } from '../lifecycle/attempts.ts';
import { hasEnded, isDeleting, isHeld } from '../lifecycle/phases.ts';
import { forceTime } from '../plan/effective.ts';
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
  return isOrderSettled(object as Order);
}

/** Settled is what is Ready or Cancelled, and what has failed in a way that only a person can mend. */
function isOrderSettled(order: Order): boolean {
  const { status, metadata } = order;
  if (status?.observedGeneration !== metadata.generation) return false;
  if (forceTime(order) * 1000 > (Date.parse(status?.lastForceAt ?? '') || 0)) return false;
  if (status?.phase === 'Failed') return !isRetryOwed(order);
  if (status?.phase === 'Cancelled') return true;
  return status?.conditions?.some(({ type, status: yes }) => type === 'Ready' && yes === 'True') === true;
}

/** True while the annotation `retry-at` asks for another attempt of what the status shows as failed. */
function isRetryOwed({ metadata, status }: Order): boolean {
  const retryAt = unixSeconds(metadata.annotations?.[annotations.retryAt]) * 1000;
  return Object.values(status?.artifactWorkflows ?? {}).some(
    ({ phase, completionTime = '' }) => phase !== 'Succeeded' && retryAt >= Date.parse(completionTime),
  );
}
