import { instantOf } from '#shared/meta';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Condition } from '../kinds/common.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import type { Order } from '../kinds/order.ts';
import { annotations, finalizers, unixSeconds } from '../kinds/well-known.ts';
import {
  currentWorkflow,
  isCancelDue,
  isFinished,
  owesAttempt,
  writtenAttemptMs,
} from '../lifecycle/attempts.ts';
import { deliveryOf, mayComeAgain } from '../lifecycle/delivery.ts';
import { isOutOfSight, needsPerson, patienceEnd } from '../lifecycle/holds.ts';
import { hasEnded, isDeleting, isHeld, phaseOf } from '../lifecycle/phases.ts';
import { forceTime } from '../plan/effective.ts';
import { refusalsOf } from '../plan/refusals.ts';
import { holdOf } from '../roll-up/hold.ts';
import { stopGraceMs } from '../submission/stopped.ts';
import { artifactWorkflowExpiry, orderExpiry } from './ttl.ts';

/**
 * The next time at which an Order must be looked at though nothing changes: the end of the wait for what is absent, or its expiry;
 * undefined if there is none.
 */
export function orderDue(order: Order): Date | undefined {
  const waits = Object.values(order.status?.artifactWorkflows ?? {}).map(({ phase, reason, since }) => {
    const began = phase === 'Pending' && needsPerson(reason) ? instantOf(since) : undefined;
    return began === undefined ? undefined : new Date(patienceEnd(began));
  });
  return isDeleting(order) ? undefined : earliest([...waits, orderExpiry(order)]);
}

function earliest(times: readonly (Date | undefined)[]): Date | undefined {
  return times.reduce(
    (first, time) => (first === undefined || (time && time < first) ? time : first),
    undefined,
  );
}

/** The same for an ArtifactWorkflow: the next attempt, the deadline of a Workflow that is being stopped, or its expiry. */
export function artifactWorkflowDue(workflow: ArtifactWorkflow, order: Order | undefined): Date | undefined {
  if (isDeleting(workflow)) return isHeld(workflow) ? stopDue(workflow) : undefined;
  if (hasEnded(workflow) && owesAttempt(workflow)) {
    // A suspended one waits for a change of its spec, not for a time.
    if (workflow.spec.suspend === true) return undefined;
    // submit-workflow, which is woken by the failure, has yet to say when.
    const written = writtenAttemptMs(workflow);
    return written === undefined ? undefined : new Date(written);
  }
  return artifactWorkflowExpiry(workflow, order);
}

function stopDue(workflow: ArtifactWorkflow): Date | undefined {
  const requested = Date.parse(workflow.status?.stopSince ?? workflow.metadata.deletionTimestamp ?? '');
  if (Number.isNaN(requested)) return undefined;
  const single = currentWorkflow(workflow).kind === 'Workflow';
  return new Date(requested + (single ? 1 : 2) * stopGraceMs);
}

/**
 * True when nothing will happen to an Order, ArtifactWorkflow or Endpoint before something else changes: it is in the state that its
 * spec asks for, waits for an edit or for its schedule, or somebody else's finalizer holds it. Others are resynced often.
 */
export function isSettled(object: Order | ArtifactWorkflow | Endpoint): boolean {
  const { deletionTimestamp, finalizers: holders, generation } = object.metadata;
  if (deletionTimestamp !== undefined)
    return !Object.values(finalizers).some((ours) => holders?.includes(ours));
  if (object.kind === 'Endpoint') return object.status?.observedGeneration === generation;
  // Whatever was not delivered is sent again.
  if (deliveryOf(object.status?.conditions)) return false;
  if (object.kind === 'ArtifactWorkflow') {
    const workflow = object as ArtifactWorkflow;
    return isFinished(workflow) ? workflow.status?.observedGeneration === generation : isResting(workflow);
  }
  return isOrderSettled(object as Order);
}

/** The condition Delivered among those `before`, unless `next`, the object as it will be without it, has settled and nothing is refused any more. */
export function keptDelivery(
  before: readonly Condition[] | undefined,
  next: Order | ArtifactWorkflow,
  now: Date,
): Condition[] {
  const found = deliveryOf(before);
  return found === undefined || (isSettled(next) && !mayComeAgain(found, now)) ? [] : [found];
}

/** True for an unfinished one that is suspended, or waits for the next run of its schedule. */
function isResting(workflow: ArtifactWorkflow): boolean {
  const { metadata, spec, status = {} } = workflow;
  if (isCancelDue(workflow)) return false;
  if (phaseOf(workflow) === 'Active')
    return status.activeWorkflowRef === undefined && status.observedGeneration === metadata.generation;
  return spec.suspend === true && (status.workflowRef === undefined || hasEnded(workflow));
}

/**
 * True for one that is not settled, and waits for a person to change what nobody here looks at. Trying often does not help, and trying rarely
 * finds it in the end.
 */
export function waitsForPerson(object: Order | ArtifactWorkflow): boolean {
  if (isDeleting(object) || deliveryOf(object.status?.conditions)) return false;
  if (object.kind === 'Order') return isOrderAtRest(object as Order) && hasRefusals(object as Order);
  const workflow = object as ArtifactWorkflow;
  return !isFinished(workflow) && isOutOfSight(holdOf(workflow)?.reason);
}

/** What refuses ArtifactWorkflows may be out of our sight: it is tried again. */
function isOrderSettled(order: Order): boolean {
  return isOrderAtRest(order) && !hasRefusals(order);
}

function hasRefusals(order: Order): boolean {
  return Object.keys(refusalsOf(order)).length > 0;
}

/** True for one that is Ready, Scheduled, Cancelled or suspended, or has failed in a way that only a person can mend. */
function isOrderAtRest(order: Order): boolean {
  const { status, metadata } = order;
  if (status?.observedGeneration !== metadata.generation) return false;
  if (isForceOwed(order)) return false;
  if (status?.phase === 'Failed' || status?.phase === 'Scheduled') return !isRetryOwed(order);
  if (status?.phase === 'Cancelled' || status?.phase === 'Suspended') return true;
  return status?.conditions?.some(({ type, status: yes }) => type === 'Ready' && yes === 'True') === true;
}

/** True while the annotation `force-at` asks for a run that the status does not show yet. */
export function isForceOwed(order: Order): boolean {
  return forceTime(order) * 1000 > (Date.parse(order.status?.lastForceAt ?? '') || 0);
}

/** True while the annotation `retry-at` asks for another attempt of what the status shows as failed. */
export function isRetryOwed({ metadata, status }: Order): boolean {
  const retryAt = unixSeconds(metadata.annotations?.[annotations.retryAt]) * 1000;
  return Object.values(status?.artifactWorkflows ?? {}).some(
    ({ phase, completionTime = '' }) => phase !== 'Succeeded' && retryAt >= Date.parse(completionTime),
  );
}
