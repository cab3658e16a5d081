import { isoSeconds } from '#shared/base/meta';
import { keyOf } from '../identity/artifact.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Order } from '../kinds/order.ts';
import { isFinished } from '../lifecycle/attempts.ts';
import { isDeleting, phaseOf } from '../lifecycle/phases.ts';
import { forceTime } from '../plan/effective.ts';
import { parseDuration } from '../values/duration.ts';

/** Maximum delay of a roll-up. */
const longestRollUpDelayMs = 600_000;

/** Returns when to delete an Order: `spec.ttl` after its creation or the last force, whatever its state. undefined: never. */
export function orderExpiry(order: Order): Date | undefined {
  if (isDeleting(order)) return undefined;
  const expiry = after(order.metadata.creationTimestamp, order.spec.ttl);
  const forced = after(isoSeconds(forceTime(order) * 1000), order.spec.ttl);
  // Whoever forces an Order that is about to expire wants to see the result.
  return expiry && forced && forced > expiry ? forced : expiry;
}

/**
 * Returns when to delete a finished ArtifactWorkflow. An unset TTL keeps it, 0 deletes it at once. undefined also until `order`, its owner,
 * records the end: from then on only the Order's status shows that the artifact is done.
 */
export function artifactWorkflowExpiry(
  workflow: ArtifactWorkflow,
  order: Order | undefined,
): Date | undefined {
  if (isDeleting(workflow) || !isFinished(workflow)) return undefined;
  // Its cancel may be undone, and then it runs again.
  if (phaseOf(workflow) === 'Cancelled') return undefined;
  const { ttlAfterFinished, ttlAfterFailed } = workflow.spec;
  const ttl = phaseOf(workflow) === 'Succeeded' ? ttlAfterFinished : ttlAfterFailed;
  const due = after(workflow.status?.completionTime, ttl);
  if (!order || !due) return due;
  const entries = order.status?.artifactWorkflows ?? {};
  const entry = entries[keyOf(workflow)];
  if (entry) return entry.completionTime === undefined ? undefined : due;
  // Either history, or a version that the next roll-up will record: wait until that roll-up must have happened.
  const settled = Date.parse(workflow.status?.completionTime ?? '') + longestRollUpDelayMs;
  return new Date(Math.max(due.getTime(), settled));
}

function after(time: string | undefined, ttl: string | undefined): Date | undefined {
  const start = Date.parse(time ?? '');
  const length = ttl === undefined ? undefined : parseDuration(ttl);
  if (Number.isNaN(start) || length === undefined) return undefined;
  // A status can hold the last time of the calendar.
  const due = new Date(start + Math.max(0, length));
  return Number.isNaN(due.getTime()) ? undefined : due;
}
