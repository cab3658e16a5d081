import { instantOf, isoSeconds } from '#shared/meta';
import type { ArtifactWorkflow, ArtifactWorkflowStatus } from '../kinds/artifact-workflow.ts';
import type { Order, OrderStatus } from '../kinds/order.ts';
import { currentWorkflow, isFinished } from '../lifecycle/attempts.ts';
import { isDeleting, isFinalPhase, phaseOf } from '../lifecycle/phases.ts';

/** A turn in the life of one object that subscribers get an event for, once for each time that it happens. */
export interface Milestone<Name extends string> {
  name: Name;
  /** Identifies the time: unique together with the object's uid and the name. */
  occurrence: string;
  time: Date;
}

export type OrderMilestone = 'accepted' | 'completed' | 'failed';
export type ArtifactMilestone = 'started' | 'succeeded' | 'failed';

/**
 * The milestone that an Order reaches when `after` replaces its status; undefined for none. A new generation is accepted, or
 * ends at once. An Order without artifacts is accepted and has no end. Every end counts: after an edit, a new credential or a force there is another one. The deletion of an
 * Order is a new generation too, but not a milestone.
 */
export function orderMilestone(
  order: Order,
  after: OrderStatus,
  now: Date,
): Milestone<OrderMilestone> | undefined {
  const { status: before } = order;
  const { observedGeneration } = after;
  if (isDeleting(order)) return undefined;
  const end = endOf(after);
  if (end !== undefined) {
    const known = endOf(before ?? {});
    if (known?.name === end.name && known.occurrence === end.occurrence) return undefined;
    // The artifacts ended before this generation was rolled up: for this generation they end now.
    return before?.observedGeneration === observedGeneration ? end : { ...end, time: now };
  }
  if (before?.phase !== undefined && before.observedGeneration === observedGeneration) return undefined;
  return { name: 'accepted', occurrence: String(observedGeneration ?? 1), time: now };
}

/** The end that a status shows: the time when the last artifact ended, or later, when no artifact was left to run but those on a schedule. */
function endOf(status: OrderStatus): Milestone<OrderMilestone> | undefined {
  const { phase, conditions = [], completionTime, counts, observedGeneration } = status;
  // An Order without artifacts has completed nothing.
  if (counts?.total === 0) return undefined;
  if (phase === 'Scheduled' || phase === 'Running') return failureBesideSchedules(status);
  if (phase !== 'Succeeded' && phase !== 'Failed') return undefined;
  const [name, decisive] =
    phase === 'Succeeded' ? (['completed', 'Ready'] as const) : (['failed', 'Stalled'] as const);
  const turned = conditions.find(({ type }) => type === decisive)?.lastTransitionTime;
  const latest = Math.max(...[completionTime, turned].map((text) => instantOf(text) ?? 0));
  return {
    name,
    occurrence: `${observedGeneration ?? 1}/${isoSeconds(latest)}`,
    time: new Date(latest),
  };
}

/** A failure of the other artifacts. With each run of a schedule phase and conditions come and go: what has ended says when. */
function failureBesideSchedules(status: OrderStatus): Milestone<OrderMilestone> | undefined {
  const { counts, artifactWorkflows: entries = {}, observedGeneration } = status;
  const others = Object.values(entries).filter(({ phase }) => phase !== 'Active');
  const schedules = Object.keys(entries).length - others.length;
  if (!counts || schedules === 0 || counts.failed + counts.invalid === 0) return undefined;
  if (counts.pending + counts.running > schedules) return undefined;
  const latest = Math.max(
    ...others.map(({ completionTime, since }) => instantOf(completionTime ?? since) ?? 0),
  );
  return {
    name: 'failed',
    occurrence: `${observedGeneration ?? 1}/${isoSeconds(latest)}`,
    time: new Date(latest),
  };
}

/**
 * The milestone of an artifact after a write of sync-status: its Workflow runs, has succeeded, or has failed and no attempt
 * will follow. Undefined for none. A failure whose retry is removed by a later edit shows only in the end of its Order.
 */
export function artifactMilestone(
  before: ArtifactWorkflow,
  after: ArtifactWorkflow,
  now: Date,
): Milestone<ArtifactMilestone> | undefined {
  const { status = {}, spec } = after;
  if (spec.cron) return runMilestone(before.status ?? {}, status, now);
  const name = standing(after);
  if (name === undefined || name === standing(before)) return undefined;
  const time = timeOf(name === 'started' ? status.startTime : status.completionTime, now);
  return { name, occurrence: String(currentWorkflow(after).attempt), time };
}

function standing(workflow: ArtifactWorkflow): ArtifactMilestone | undefined {
  const phase = phaseOf(workflow);
  if (phase === 'Running') return 'started';
  if (phase === 'Succeeded') return 'succeeded';
  // A version that was replaced or cancelled was stopped on purpose: it has not failed.
  if (phase === 'Cancelled') return undefined;
  return isFinalPhase(phase) && isFinished(workflow) && !isDeleting(workflow) ? 'failed' : undefined;
}

/** For a schedule: the last run. Argo starts none while another runs, and counts how they end. */
function runMilestone(
  before: ArtifactWorkflowStatus,
  after: ArtifactWorkflowStatus,
  now: Date,
): Milestone<ArtifactMilestone> | undefined {
  const scheduled = timeOf(after.lastScheduled, now);
  const occurrence = isoSeconds(scheduled.getTime());
  const run = after.activeWorkflowRef?.name;
  if (run !== undefined && run !== before.activeWorkflowRef?.name)
    return { name: 'started', occurrence, time: scheduled };
  // A CronWorkflow that was created again counts from zero.
  const name = (['failed', 'succeeded'] as const).find((each) => after[each] && after[each] !== before[each]);
  return name && { name, occurrence, time: now };
}

function timeOf(text: string | undefined, otherwise: Date): Date {
  const ms = instantOf(text);
  return ms === undefined ? otherwise : new Date(ms);
}
