import { applyMergePatch, isOwnedBy, isoSeconds, mergePatchBetween } from '#shared/base/meta';
import type { CronWorkflow, Workflow } from '../kinds/argo.ts';
import type { ArtifactWorkflow, ArtifactWorkflowStatus } from '../kinds/artifact-workflow.ts';
import type { Condition } from '../kinds/common.ts';
import type { WorkflowPhase } from '../kinds/phases.ts';
import { annotations } from '../kinds/well-known.ts';
import { currentWorkflow, isCancelDue } from '../lifecycle/attempts.ts';
import { deliveryOf, isDeliveryOver, keptDelivery, quietAt, withoutDelivery } from '../lifecycle/delivery.ts';
import { schedulesOff } from '../lifecycle/holds.ts';
import { hasEnded, isCompleted, isDeleting, isFinalPhase, phaseOf } from '../lifecycle/phases.ts';
import { tellingCondition } from '../lifecycle/telling-condition.ts';
import { transition } from '../lifecycle/transition.ts';
import { isUnreleased } from '../submission/workflow.ts';
import { longestConditionMessage, longestMessage } from '../values/limits.ts';
import { maskCredentials } from '../values/mask.ts';
import { brief, cut } from '../values/text.ts';
import { isStartFailure, runFailure, startFailure } from './attempt-event.ts';
import { cancelledInstead, cancelledMessage, cancelledWithout, type Seen } from './cancelled.ts';
import { failureMessage, type LogTail } from './failure.ts';
import { furtherProgress } from './progress.ts';
import { isQueued, type QueuePlace, queueMessage } from './queue.ts';
import { reportedFailure, resultsOf } from './results.ts';

/** A merge patch for the status fields that sync-status owns; null removes a field. */
export type SyncPatch = { [Field in keyof ArtifactWorkflowStatus]?: ArtifactWorkflowStatus[Field] | null };

export interface SyncExtras {
  /** The latest run of a CronWorkflow, if there is one. */
  run?: Workflow | undefined;
  /** Of the failed step, if it was read. */
  tail?: LogTail | undefined;
  /** Where a queued Workflow stands, if that was read. */
  place?: QueuePlace | undefined;
  /** True if reading the CronWorkflow is forbidden. */
  isUnreadable?: boolean;
}

/**
 * Returns what sync-status has to write after observing an ArtifactWorkflow's Argo object; undefined if nothing changes, if the object is
 * neither current nor ours, or if it is gone (the last observation stays true; submit-workflow recreates the object if necessary). An
 * ArtifactWorkflow that is to be cancelled and has no Workflow has ended.
 */
export function syncedStatus(
  workflow: ArtifactWorkflow,
  argo: Workflow | CronWorkflow | undefined,
  now: Date,
  extras: SyncExtras = {},
): SyncPatch | undefined {
  const { status = {} } = workflow;
  if (!deliveryOf(status.conditions)) return seenStatus(workflow, argo, now, extras);
  // The other conditions are computed without Delivered, which stays until the object has settled.
  const bare = { ...workflow, status: { ...status, conditions: withoutDelivery(status.conditions ?? []) } };
  const patch = seenStatus(bare, argo, now, extras);
  const next = { ...bare, status: applyMergePatch(bare.status, patch ?? {}) as ArtifactWorkflowStatus };
  const kept = keptDelivery(status.conditions, next, now);
  if (!patch?.conditions && kept.length > 0) return patch;
  return { ...patch, conditions: [...(next.status.conditions ?? []), ...kept] };
}

function seenStatus(
  workflow: ArtifactWorkflow,
  argo: Workflow | CronWorkflow | undefined,
  now: Date,
  extras: SyncExtras,
): SyncPatch | undefined {
  const seen = observed(workflow, argo, now, extras);
  if (!seen) return stillEnded(workflow);
  return changes(workflow.status ?? {}, {
    ...seen,
    conditions: conditionsOf(workflow, seen.phase ?? 'Pending', seen.message ?? '', now),
  });
}

/**
 * True when sync-status has nothing to write. `argo` may lack its nodes, and the ArtifactWorkflow every condition but Delivered: conditions
 * follow from the phase, and results come with the end of an attempt.
 */
export function isSynced(
  workflow: ArtifactWorkflow,
  argo: Workflow | CronWorkflow | undefined,
  now: Date,
  extras: SyncExtras = {},
): boolean {
  const { status = {} } = workflow;
  const refused = deliveryOf(status.conditions);
  if (refused && isDeliveryOver(workflow) && now.getTime() >= quietAt(refused)) return false;
  const seen = observed(workflow, argo, now, extras);
  if (!seen) return stillEnded(workflow) === undefined;
  const { results: _results, ...rest } = seen;
  return changes(status, rest) === undefined;
}

/** Returns the status that the Argo object shows, without conditions; undefined if the object is not about this transfer. */
function observed(
  workflow: ArtifactWorkflow,
  argo: Workflow | CronWorkflow | undefined,
  now: Date,
  extras: SyncExtras,
): Seen | undefined {
  const reference = currentWorkflow(workflow);
  const isNamed = argo?.metadata.name === reference.name && argo.kind === reference.kind;
  // A Workflow made by hand, or left by an earlier ArtifactWorkflow of this name, is not about this transfer.
  const ours = isNamed && isOwnedBy(argo, workflow) ? argo : undefined;
  const seen = extras.isUnreadable
    ? unreadable(workflow)
    : ours
      ? seenOf(workflow, ours, now, extras)
      : cancelledWithout(workflow, now);
  if (!seen) return undefined;
  return {
    ...seen,
    syncedAttempt: workflow.status?.workflowRef?.attempt ?? (ours ? reference.attempt : 0),
    observedGeneration: generationOf(workflow),
  };
}

/** Returns the generation to report. The deletion of an object that has ended is a new generation but changes nothing in its status. */
function generationOf(workflow: ArtifactWorkflow): number | undefined {
  const { metadata, status } = workflow;
  return isDeleting(workflow) && hasEnded(workflow) ? status?.observedGeneration : metadata.generation;
}

/** Returns what is known of a schedule that may not be read: how its runs ended, but not whether others follow. */
function unreadable(workflow: ArtifactWorkflow): Seen | undefined {
  if (hasEnded(workflow)) return undefined;
  return {
    phase: 'Pending',
    message: schedulesOff.message,
    activeWorkflowRef: undefined,
    progress: undefined,
  };
}

/** An end is final, whatever is edited; only its observedGeneration follows. */
function stillEnded(workflow: ArtifactWorkflow): SyncPatch | undefined {
  const generation = generationOf(workflow);
  const { observedGeneration, conditions = [] } = workflow.status ?? {};
  if (generation === undefined || observedGeneration === generation || !hasEnded(workflow)) return undefined;
  const renewed = conditions.map((one) => ({ ...one, observedGeneration: generation }));
  return { observedGeneration: generation, conditions: renewed };
}

function seenOf(
  workflow: ArtifactWorkflow,
  argo: Workflow | CronWorkflow,
  now: Date,
  extras: SyncExtras,
): Seen | undefined {
  if (argo.kind === 'CronWorkflow') return fromCron(workflow, argo as CronWorkflow, extras);
  const seen = fromWorkflow(workflow, argo as Workflow, now, extras);
  return seen && cancelledInstead(workflow, seen, now);
}

function fromWorkflow(
  workflow: ArtifactWorkflow,
  argo: Workflow,
  now: Date,
  extras: SyncExtras,
): Seen | undefined {
  const before = phaseOf(workflow);
  // Argo reports Running although nothing runs. Most Workflows are released within a moment, so this is reported only over another status.
  if (isUnreleased(argo))
    return before === 'Pending' || isFinalPhase(before) ? undefined : { phase: 'Pending' };
  const phase = phaseFor(workflow, argo);
  // An end is final: a late observation of the same attempt changes nothing, unless the transfer had arrived before it was cancelled.
  if (isFinalPhase(before) && !isFinalPhase(phase)) return undefined;
  if (before === 'Cancelled' && phase !== 'Succeeded') return undefined;
  const { attempt } = currentWorkflow(workflow);
  const same = (workflow.status?.syncedAttempt ?? 1) === attempt;
  const old: ArtifactWorkflowStatus = same ? (workflow.status ?? {}) : {};
  const { startedAt, progress } = argo.status ?? {};
  const final = isFinalPhase(phase);
  // A pod that was preempted has reported too, and another one follows within the attempt.
  const results = (final ? resultsOf(argo) : undefined) ?? old.results;
  // The message of an ended attempt stays as first written, and a place in a queue until it is read again.
  const kept = isFinalPhase(before) || before === phase ? old.message : undefined;
  return {
    phase,
    message: messageOf(argo, phase, kept, extras),
    startTime: startedAt ?? old.startTime,
    completionTime: final ? completionOf(workflow, argo, old, now) : undefined,
    progress: furtherProgress(old.progress, progress),
    results,
  };
}

/** None for a run that its deletion stopped: it did not end, and is created again if its Order still wants it. */
function completionOf(
  workflow: ArtifactWorkflow,
  argo: Workflow,
  old: ArtifactWorkflowStatus,
  now: Date,
): string | undefined {
  const ended = isFinalPhase(phaseOf(workflow));
  if (isDeleting(workflow) && phaseFrom(argo) === 'Stopped') return ended ? old.completionTime : undefined;
  return afterAsked(workflow, argo.status?.finishedAt ?? old.completionTime ?? isoSeconds(now.getTime()));
}

/**
 * Returns an end later than the request for the run, whatever the clocks of Argo and of the requester say: otherwise the request would
 * count for this end as well.
 */
function afterAsked({ status }: ArtifactWorkflow, ended: string): string {
  const { rerunAt = 0 } = status?.workflowRef ?? {};
  return Date.parse(ended) <= rerunAt * 1000 ? isoSeconds((rerunAt + 1) * 1000) : ended;
}

function messageOf(
  argo: Workflow,
  phase: WorkflowPhase,
  kept: string | undefined,
  { tail, place }: SyncExtras,
): string | undefined {
  if (phase === 'Succeeded') return undefined;
  if (phase === 'Cancelled') return cancelledMessage;
  if (isQueued(argo)) return place ? queueMessage(place) : kept;
  if (!isFinalPhase(phase))
    return argo.status?.message ? cut(argo.status.message, longestMessage) : undefined;
  return kept ?? (failureMessage(argo, reportedFailure(argo), tail) || undefined);
}

/** Cancelled instead of Stopped if a cancel stopped it, even if the cancel was undone since. */
function phaseFor(workflow: ArtifactWorkflow, argo: Workflow): WorkflowPhase {
  const phase = phaseFrom(argo);
  if (phase !== 'Stopped') return phase;
  const byUs = argo.metadata.annotations?.[annotations.cancelledAt] !== undefined;
  return byUs || isCancelDue(workflow) ? 'Cancelled' : phase;
}

/** Maps Argo's phase to ours. Pending with a message and without a start means that it waits in Argo's queue. */
function phaseFrom(workflow: Workflow): WorkflowPhase {
  const { spec, status = {} } = workflow;
  const { phase, startedAt, message } = status;
  // Argo before 4.1.2 reports a Workflow as Succeeded that was terminated while it waited for a lock (argo #16776):
  // the worker's report tells such a Workflow from a transfer that finished before the stop.
  const arrived = phase === 'Succeeded' && resultsOf(workflow)?.outcome === 'succeeded';
  if (isCompleted(phase) && spec.shutdown && !arrived) return 'Stopped';
  if (!phase) return 'Pending';
  if (isQueued(workflow) || (phase === 'Pending' && !startedAt && message)) return 'Queued';
  return phase;
}

function fromCron(workflow: ArtifactWorkflow, argo: CronWorkflow, { run, tail }: SyncExtras): Seen {
  const { message, ...rest } = workflow.status ?? {};
  // The schedule is readable or startable again.
  const isOver = message === undefined || message === schedulesOff.message || isStartFailure(message);
  const old: ArtifactWorkflowStatus = isOver ? rest : { ...rest, message };
  const { active, lastScheduledTime, succeeded, failed } = argo.status ?? {};
  const current = active?.[0];
  const results = run && resultsOf(run);
  // Progress of the same run never goes back; the next run starts anew.
  const sameRun = current !== undefined && current.name === old.activeWorkflowRef?.name;
  const progress = furtherProgress(sameRun ? old.progress : undefined, run?.status?.progress);
  return {
    phase: 'Active',
    message: startMessage(argo) ?? (run ? runMessage(run, old.message, tail) : old.message),
    startTime: old.startTime ?? lastScheduledTime ?? undefined,
    lastScheduled: lastScheduledTime ?? old.lastScheduled,
    succeeded: succeeded ?? old.succeeded,
    failed: failed ?? old.failed,
    activeWorkflowRef: current ? { name: current.name } : undefined,
    progress: current ? progress : undefined,
    results: results ?? old.results,
  };
}

/** Returns why Argo cannot start a run, from its conditions: the template or the account is missing, a policy refuses the Workflow. */
function startMessage({ status }: CronWorkflow): string | undefined {
  const refused = status?.conditions?.find(
    ({ type, status: is }) => is === 'True' && (type === 'SubmissionError' || type === 'SpecError'),
  );
  return refused && cut(startFailure(maskCredentials(refused.message ?? '')), longestMessage);
}

/** Returns how the last run of a schedule failed; the message stays as first written. */
function runMessage(run: Workflow, old: string | undefined, tail: LogTail | undefined): string | undefined {
  const { phase } = run.status ?? {};
  if (phase !== 'Failed' && phase !== 'Error') return undefined;
  const told = runFailure(run.metadata.name);
  if (old?.startsWith(told)) return old;
  const why = failureMessage(run, reportedFailure(run), tail);
  return why === '' ? told : `${told}: ${why}`;
}

function conditionsOf(
  workflow: ArtifactWorkflow,
  phase: WorkflowPhase,
  message: string,
  now: Date,
): Condition[] {
  const failed = phase === 'Failed' || phase === 'Error' || phase === 'Stopped';
  const ready = phase === 'Succeeded' || phase === 'Active';
  const generation = generationOf(workflow);
  const verdict = { Ready: ready, Reconciling: !ready && !failed && phase !== 'Cancelled', Stalled: failed };
  const telling = tellingCondition(verdict);
  return Object.entries(verdict).map(([type, yes]) =>
    transition(workflow.status?.conditions ?? [], now, {
      type,
      status: yes ? 'True' : 'False',
      reason: phase,
      message: type === telling ? cut(brief(message), longestConditionMessage) : '',
      ...(generation === undefined ? {} : { observedGeneration: generation }),
    }),
  );
}

function changes(before: ArtifactWorkflowStatus, seen: Seen): SyncPatch | undefined {
  const written = Object.entries(before).filter(([field]) => Object.hasOwn(seen, field));
  return mergePatchBetween(Object.fromEntries(written), seen);
}
