import { applyMergePatch, isOwnedBy, isoSeconds, mergePatchBetween } from '#shared/base/meta';
import type { CronWorkflow, Workflow } from '../kinds/argo.ts';
import type { ArtifactWorkflow, ArtifactWorkflowStatus, WorkflowPhase } from '../kinds/artifact-workflow.ts';
import type { Condition } from '../kinds/common.ts';
import { annotations, labels } from '../kinds/well-known.ts';
import { currentWorkflow, isCancelDue } from '../lifecycle/attempts.ts';
import { deliveryOf, isDeliveryOver, keptDelivery, quietAt, withoutDelivery } from '../lifecycle/delivery.ts';
import { schedulesOff } from '../lifecycle/holds.ts';
import { hasEnded, isDeleting, isFinalPhase, phaseOf } from '../lifecycle/phases.ts';
import { transition } from '../lifecycle/transition.ts';
import { isUnreleased } from '../submission/release.ts';
import { longestConditionMessage, longestMessage } from '../values/limits.ts';
import { maskCredentials } from '../values/mask.ts';
import { brief, cut } from '../values/text.ts';
import { isStartFailure, runFailure, startFailure } from './attempt-event.ts';
import { cancelledInstead, cancelledMessage, cancelledWithout, type Seen } from './cancelled.ts';
import { failureMessage, type LogTail } from './failure.ts';
import { furtherProgress } from './progress.ts';
import { reportedFailure, resultsOf } from './results.ts';

/** A merge patch for the status fields sync-status owns; null takes a field away. */
export type SyncPatch = { [Field in keyof ArtifactWorkflowStatus]?: ArtifactWorkflowStatus[Field] | null };

export interface SyncExtras {
  /** The run a CronWorkflow has made last, if there is one. */
  run?: Workflow | undefined;
  /** Of the step that failed, where it was read. */
  tail?: LogTail | undefined;
  /** True where the CronWorkflow may not be read. */
  isUnreadable?: boolean;
}

/**
 * What sync-status has to write after looking at an ArtifactWorkflow's Argo object; undefined when nothing changes, when the
 * object is not the one in force or somebody else's, or when it is gone (what was seen of it stays true; submit-workflow makes it again if need be).
 * One that is to be cancelled and has no Workflow has ended.
 */
export function syncedStatus(
  workflow: ArtifactWorkflow,
  argo: Workflow | CronWorkflow | undefined,
  now: Date,
  extras: SyncExtras = {},
): SyncPatch | undefined {
  const { status = {} } = workflow;
  if (!deliveryOf(status.conditions)) return seenStatus(workflow, argo, now, extras);
  // The others change as if it were not there; it stays until the object has settled.
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
 * True when sync-status has nothing to write. `argo` may lack its nodes, and the ArtifactWorkflow all of its conditions but Delivered: they follow
 * from the phase. Results come with the end of an attempt, which shows.
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

/** What there is to say of its Argo object, beside the conditions; undefined where it is not about this transfer. */
function observed(
  workflow: ArtifactWorkflow,
  argo: Workflow | CronWorkflow | undefined,
  now: Date,
  extras: SyncExtras,
): Seen | undefined {
  const reference = currentWorkflow(workflow);
  const isNamed = argo?.metadata.name === reference.name && argo.kind === reference.kind;
  // A Workflow made by hand, or left by a former ArtifactWorkflow of this name, is not about this transfer.
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
    observedGeneration: workflow.metadata.generation,
  };
}

/** What is known of a schedule that nobody may look at: how its runs went, and not that there will be others. */
function unreadable(workflow: ArtifactWorkflow): Seen | undefined {
  if (hasEnded(workflow)) return undefined;
  return {
    phase: 'Pending',
    message: schedulesOff.message,
    activeWorkflowRef: undefined,
    progress: undefined,
  };
}

/** What has ended stays as it is, whatever is edited; its status says that it is about the present generation, unless it goes. */
function stillEnded(workflow: ArtifactWorkflow): SyncPatch | undefined {
  const { generation } = workflow.metadata;
  const { observedGeneration, conditions = [] } = workflow.status ?? {};
  if (generation === undefined || observedGeneration === generation || !hasEnded(workflow)) return undefined;
  if (isDeleting(workflow)) return undefined;
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
  { tail }: SyncExtras,
): Seen | undefined {
  const before = phaseOf(workflow);
  // Argo calls it Running, and nothing runs. Most are released in a moment, so it is said only where the status says otherwise.
  if (isUnreleased(argo))
    return before === 'Pending' || isFinalPhase(before) ? undefined : { phase: 'Pending' };
  const phase = phaseFor(workflow, argo);
  // An end is an end: a late view of the same attempt changes nothing, unless it had arrived before it was cancelled.
  if (isFinalPhase(before) && !isFinalPhase(phase)) return undefined;
  if (before === 'Cancelled' && phase !== 'Succeeded') return undefined;
  const { attempt } = currentWorkflow(workflow);
  const same = (workflow.status?.syncedAttempt ?? 1) === attempt;
  const old: ArtifactWorkflowStatus = same ? (workflow.status ?? {}) : {};
  const { startedAt, progress } = argo.status ?? {};
  const results = resultsOf(argo) ?? old.results;
  const final = isFinalPhase(phase);
  // The message of an attempt that has ended stays as it was first written.
  const settled = isFinalPhase(before) ? old.message : undefined;
  return {
    phase,
    message: messageOf(argo, phase, settled, tail),
    startTime: startedAt ?? old.startTime,
    completionTime: final ? completionOf(workflow, argo, old, now) : undefined,
    progress: furtherProgress(old.progress, progress),
    results,
  };
}

/** None for what was stopped because it is being deleted: it did not end, and is made anew if its Order still wants it. */
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
 * The end of a run that was asked for is later than the wish, whatever Argo's clock and that of who asked say: else the wish would count for
 * this end, too.
 */
function afterAsked({ status }: ArtifactWorkflow, ended: string): string {
  const { rerunAt = 0 } = status?.workflowRef ?? {};
  return Date.parse(ended) <= rerunAt * 1000 ? isoSeconds((rerunAt + 1) * 1000) : ended;
}

function messageOf(
  argo: Workflow,
  phase: WorkflowPhase,
  settled: string | undefined,
  tail: LogTail | undefined,
): string | undefined {
  if (phase === 'Succeeded') return undefined;
  if (phase === 'Cancelled') return cancelledMessage;
  if (!isFinalPhase(phase))
    return argo.status?.message ? cut(argo.status.message, longestMessage) : undefined;
  return settled ?? (failureMessage(argo, reportedFailure(argo), tail) || undefined);
}

/**
 * True while a Workflow with a queue waits in Kueue's: Argo calls it Running and none of its pods has got further than Pending. One that
 * was let in and has yet to start looks the same.
 */
export function isQueued({ metadata, status = {} }: Workflow): boolean {
  if (metadata.labels?.[labels.queue] === undefined || status.phase !== 'Running') return false;
  const pods = Object.values(status.nodes ?? {}).filter(({ type }) => type === 'Pod');
  return pods.length > 0 && pods.every(({ phase }) => phase === 'Pending');
}

/** Cancelled rather than Stopped where it was stopped for that; its cancel may have been taken back since. */
function phaseFor(workflow: ArtifactWorkflow, argo: Workflow): WorkflowPhase {
  const phase = phaseFrom(argo);
  if (phase !== 'Stopped') return phase;
  const byUs = argo.metadata.annotations?.[annotations.cancelledAt] !== undefined;
  return byUs || isCancelDue(workflow) ? 'Cancelled' : phase;
}

/** Our phase for Argo's. Pending with a message and no start is waiting in Argo's queue. */
function phaseFrom(workflow: Workflow): WorkflowPhase {
  const { spec, status = {} } = workflow;
  const { phase, startedAt, message } = status;
  const ended = phase === 'Succeeded' || phase === 'Failed' || phase === 'Error';
  // Argo before 4.1.2 called a Workflow Succeeded that was terminated while it waited for a lock (argo #16776):
  // the word of the worker tells such a one from a transfer that was done before the stop.
  const arrived = phase === 'Succeeded' && resultsOf(workflow)?.outcome === 'succeeded';
  if (ended && spec.shutdown && !arrived) return 'Stopped';
  if (!phase) return 'Pending';
  if (isQueued(workflow) || (phase === 'Pending' && !startedAt && message)) return 'Queued';
  return phase;
}

function fromCron(workflow: ArtifactWorkflow, argo: CronWorkflow, { run, tail }: SyncExtras): Seen {
  const { message, ...rest } = workflow.status ?? {};
  // It may be read again, or started.
  const isOver = message === undefined || message === schedulesOff.message || isStartFailure(message);
  const old: ArtifactWorkflowStatus = isOver ? rest : { ...rest, message };
  const { active, lastScheduledTime, succeeded, failed } = argo.status ?? {};
  const current = active?.[0];
  const results = run && resultsOf(run);
  // The same run goes forward only; the next one starts anew.
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

/** Why Argo can start no run, as its conditions say: the template or the account is gone, a policy refuses the Workflow. */
function startMessage({ status }: CronWorkflow): string | undefined {
  const refused = status?.conditions?.find(
    ({ type, status: is }) => is === 'True' && (type === 'SubmissionError' || type === 'SpecError'),
  );
  return refused && cut(startFailure(maskCredentials(refused.message ?? '')), longestMessage);
}

/** How the last run of a schedule failed; it stays as it was first written. */
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
  const { generation } = workflow.metadata;
  const verdict = { Ready: ready, Reconciling: !ready && !failed && phase !== 'Cancelled', Stalled: failed };
  return Object.entries(verdict).map(([type, yes]) =>
    transition(workflow.status?.conditions ?? [], now, {
      type,
      status: yes ? 'True' : 'False',
      reason: phase,
      message: cut(brief(message), longestConditionMessage),
      ...(generation === undefined ? {} : { observedGeneration: generation }),
    }),
  );
}

function changes(before: ArtifactWorkflowStatus, seen: Seen): SyncPatch | undefined {
  const written = Object.entries(before).filter(([field]) => Object.hasOwn(seen, field));
  return mergePatchBetween(Object.fromEntries(written), seen);
}
