import { instantOf, isoSeconds } from '#shared/meta';
import type { ArtifactWorkflow, ArtifactWorkflowStatus } from '../kinds/artifact-workflow.ts';
import type { Order, OrderStatus } from '../kinds/order.ts';
import { currentWorkflow, isFinished } from '../lifecycle/attempts.ts';
import { isDeleting, isFinalPhase, phaseOf } from '../lifecycle/phases.ts';

/** What subscribers are told of one object, once for each time that it turned so. */
export interface Milestone<Word extends string> {
  word: Word;
  /** Which time it was: with the object's uid and the word no other has the same. */
  occurrence: string;
  time: Date;
}

export type OrderWord = 'accepted' | 'completed' | 'failed';
export type ArtifactWord = 'started' | 'succeeded' | 'failed';

/**
 * What is new in `after`, which replaces the Order's status; undefined when nothing is that anybody is told of. A new
 * generation of an Order is accepted, or ends at once. Each end is told: after an edit, a new credential or a force there is another one. Its
 * deletion is a new generation too, and tells nothing.
 */
export function orderMilestone(
  order: Order,
  after: OrderStatus,
  now: Date,
): Milestone<OrderWord> | undefined {
  const { status: before } = order;
  const { observedGeneration } = after;
  if (isDeleting(order)) return undefined;
  const end = endOf(after);
  if (end !== undefined) {
    const known = endOf(before ?? {});
    if (known?.word === end.word && known.occurrence === end.occurrence) return undefined;
    // What ended before this generation was looked at ends for it now.
    return before?.observedGeneration === observedGeneration ? end : { ...end, time: now };
  }
  if (before?.phase !== undefined && before.observedGeneration === observedGeneration) return undefined;
  return { word: 'accepted', occurrence: String(observedGeneration ?? 1), time: now };
}

/** The end that a status tells of: when the last artifact ended, or later, when the Order turned out to have none that is to run. */
function endOf(status: OrderStatus): Milestone<OrderWord> | undefined {
  const { phase, conditions = [], completionTime, observedGeneration } = status;
  if (phase !== 'Succeeded' && phase !== 'Failed') return undefined;
  const [word, decisive] =
    phase === 'Succeeded' ? (['completed', 'Ready'] as const) : (['failed', 'Stalled'] as const);
  const turned = conditions.find(({ type }) => type === decisive)?.lastTransitionTime;
  const latest = Math.max(...[completionTime, turned].map((text) => instantOf(text) ?? 0));
  return {
    word,
    occurrence: `${observedGeneration ?? 1}/${isoSeconds(latest)}`,
    time: new Date(latest),
  };
}

/**
 * What is new about an artifact after sync-status has written: its Workflow runs, has succeeded, or has failed and no attempt is to
 * follow. Undefined for anything else. An attempt whose retry is taken back by a later edit is told of with its Order's end only.
 */
export function artifactMilestone(
  before: ArtifactWorkflow,
  after: ArtifactWorkflow,
  now: Date,
): Milestone<ArtifactWord> | undefined {
  const { status = {}, spec } = after;
  if (spec.cron) return runMilestone(before.status ?? {}, status, now);
  const word = standing(after);
  if (word === undefined || word === standing(before)) return undefined;
  const time = timeOf(word === 'started' ? status.startTime : status.completionTime, now);
  return { word, occurrence: String(currentWorkflow(after).attempt), time };
}

function standing(workflow: ArtifactWorkflow): ArtifactWord | undefined {
  const phase = phaseOf(workflow);
  if (phase === 'Running') return 'started';
  if (phase === 'Succeeded') return 'succeeded';
  // What is stopped because nobody wants it any more has not failed.
  return isFinalPhase(phase) && isFinished(workflow) && !isDeleting(workflow) ? 'failed' : undefined;
}

/** Of a schedule, the run that was started last: Argo starts none while another runs, and counts how they end. */
function runMilestone(
  before: ArtifactWorkflowStatus,
  after: ArtifactWorkflowStatus,
  now: Date,
): Milestone<ArtifactWord> | undefined {
  const scheduled = timeOf(after.lastScheduled, now);
  const occurrence = isoSeconds(scheduled.getTime());
  const run = after.activeWorkflowRef?.name;
  if (run !== undefined && run !== before.activeWorkflowRef?.name)
    return { word: 'started', occurrence, time: scheduled };
  // A CronWorkflow that was made anew counts from zero again.
  const word = (['failed', 'succeeded'] as const).find((each) => after[each] && after[each] !== before[each]);
  return word && { word, occurrence, time: now };
}

function timeOf(text: string | undefined, otherwise: Date): Date {
  const ms = instantOf(text);
  return ms === undefined ? otherwise : new Date(ms);
}
