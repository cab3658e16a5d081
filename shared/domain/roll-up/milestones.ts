import { instantOf, isoSeconds, type KubeObject } from '#shared/base/meta';
import type { ArtifactWorkflow, ArtifactWorkflowStatus } from '../kinds/artifact-workflow.ts';
import type { Order, OrderStatus } from '../kinds/order.ts';
import { currentWorkflow, isFinished } from '../lifecycle/attempts.ts';
import { isDeleting, isFinalPhase, phaseOf } from '../lifecycle/phases.ts';
import { shortHash } from '../values/hash.ts';

/** A milestone in the life of one object, of which subscribers get an event. */
export interface Milestone<Name extends string> {
  name: Name;
  /** Identifies the occurrence: unique together with the object's uid and the name. */
  occurrence: string;
  /** The value of `status.announced` after its announcement. */
  announced: string;
  time: Date;
}

export type OrderMilestone = 'accepted' | 'completed' | 'failed';
export type ArtifactMilestone = 'started' | 'succeeded' | 'failed';

function milestone<Name extends string>(
  name: Name,
  occurrence: string,
  time: Date,
  announced = `${occurrence}/${name}`,
): Milestone<Name> {
  return { name, occurrence, time, announced };
}

/** An object whose milestones are announced. */
export type Announced = Order | ArtifactWorkflow;

/** True for an object of a kind whose milestones are announced. */
export function isAnnounced(object: KubeObject): object is KubeObject & Announced {
  return object.kind === 'Order' || object.kind === 'ArtifactWorkflow';
}

/** Returns the milestones that an object's status shows and that were not announced, in order; `since` as for `orderMilestones`. */
function milestones(
  object: Announced,
  now: Date,
  since?: string,
): Milestone<OrderMilestone | ArtifactMilestone>[] {
  return object.kind === 'Order'
    ? orderMilestones(object as Order, now, since)
    : artifactMilestones(object as ArtifactWorkflow, now, since);
}

/** Returns the value of `status.announced` when nothing is left to announce; '' for none. */
export function lastMilestone(object: Announced): string {
  return milestones(object, new Date(0), '').at(-1)?.announced ?? '';
}

/**
 * Returns `announced` for the first write of a status: the milestones that it showed before count as announced. A status of an earlier release
 * does not record them, and is not announced again.
 */
export function firstAnnounced(object: KubeObject): { announced?: string } {
  if (!isAnnounced(object) || object.status?.announced !== undefined) return {};
  return { announced: lastMilestone(object) };
}

/**
 * Returns the milestones that an Order's status shows and that were not announced, in order. Every generation is accepted, and every end counts:
 * an edit, a new credential or a force leads to another end. An Order without artifacts is accepted and never completed. The
 * deletion of an Order is a new generation but not a milestone.
 *
 * @param since `status.announced` after the last announcement; undefined if unknown: then nothing is due
 */
export function orderMilestones(
  order: Order,
  now: Date,
  since = order.status?.announced,
): Milestone<OrderMilestone>[] {
  const { phase, observedGeneration = 1 } = order.status ?? {};
  if (since === undefined || phase === undefined || isDeleting(order)) return [];
  const generation = String(observedGeneration);
  const isAccepted = since.split('/', 1)[0] === generation;
  const end = endOf(order.status ?? {});
  return [
    ...(isAccepted ? [] : [milestone('accepted' as const, generation, now)]),
    // The artifacts ended before this generation was accepted, so for this generation they end now.
    ...(end === undefined || end.announced === since ? [] : [isAccepted ? end : { ...end, time: now }]),
  ];
}

/** Returns the end that a status shows: when the last artifact ended, or when no artifact but scheduled ones was left to run. */
function endOf(status: OrderStatus): Milestone<OrderMilestone> | undefined {
  const { phase, conditions = [], completionTime, counts } = status;
  // An Order without artifacts has nothing to complete.
  if (counts?.total === 0) return undefined;
  if (phase === 'Scheduled' || phase === 'Running') return failureBesideSchedules(status);
  if (phase !== 'Succeeded' && phase !== 'Failed') return undefined;
  const [name, decisive] =
    phase === 'Succeeded' ? (['completed', 'Ready'] as const) : (['failed', 'Stalled'] as const);
  const turned = conditions.find(({ type }) => type === decisive)?.lastTransitionTime;
  const latest = Math.max(...[completionTime, turned].map((text) => instantOf(text) ?? 0));
  return endAt(status, name, latest);
}

/** Returns the failure of artifacts without schedule. Phase and conditions change with every run of a schedule: the counts tell when it failed. */
function failureBesideSchedules(status: OrderStatus): Milestone<OrderMilestone> | undefined {
  const { counts, artifactWorkflows: entries = {} } = status;
  if (!counts || counts.failed + counts.invalid === 0) return undefined;
  const others = Object.values(entries).filter(({ phase }) => phase !== 'Active');
  const schedules = Object.keys(entries).length - others.length;
  if (schedules === 0) return undefined;
  if (counts.pending + counts.running > schedules) return undefined;
  const latest = Math.max(
    ...others.map(({ completionTime, since }) => instantOf(completionTime ?? since) ?? 0),
  );
  return endAt(status, 'failed', latest);
}

/** Kubernetes' times have whole seconds: the counts tell two ends within one second apart. */
function endAt(
  { artifactWorkflows: entries = {}, observedGeneration = 1 }: OrderStatus,
  name: 'completed' | 'failed',
  ms: number,
): Milestone<OrderMilestone> {
  const ended = Object.entries(entries).map(([key, { phase, completionTime, attempts = 1, revision = 1 }]) =>
    phase === 'Active' ? [key] : [key, phase, completionTime ?? '', attempts, revision],
  );
  const occurrence = [observedGeneration, isoSeconds(ms), shortHash(ended)].join('/');
  return milestone(name, occurrence, new Date(ms));
}

/**
 * Returns the milestones that an artifact's status shows and that were not announced, in order: its Workflow runs, has succeeded, or has failed
 * with no further attempt.
 *
 * @param since as for `orderMilestones`
 */
export function artifactMilestones(
  workflow: ArtifactWorkflow,
  now: Date,
  since = workflow.status?.announced,
): Milestone<ArtifactMilestone>[] {
  const { status = {}, spec } = workflow;
  if (since === undefined) return [];
  if (spec.cron) return runMilestones(status, now, since);
  const standing = standingOf(workflow);
  if (standing === undefined) return [];
  const occurrence = String(currentWorkflow(workflow).attempt);
  const { startTime, completionTime } = status;
  const hasStarted = standing === 'started' || instantOf(startTime) !== undefined;
  const shown: Milestone<ArtifactMilestone>[] = [
    ...(hasStarted ? [milestone('started' as const, occurrence, timeOf(startTime, now))] : []),
    ...(standing === 'started' ? [] : [milestone(standing, occurrence, timeOf(completionTime, now))]),
  ];
  const known = shown.findIndex(({ announced }) => announced === since);
  // An attempt whose end was corrected started only once.
  const isEndKnown = known < 0 && since.split('/', 1)[0] === occurrence;
  return isEndKnown ? shown.filter(({ name }) => name !== 'started') : shown.slice(known + 1);
}

function standingOf(workflow: ArtifactWorkflow): ArtifactMilestone | undefined {
  const phase = phaseOf(workflow);
  if (phase === 'Running') return 'started';
  if (phase === 'Succeeded') return 'succeeded';
  // A version that was superseded or cancelled was stopped on purpose: it has not failed.
  if (phase === 'Cancelled') return undefined;
  return isFinalPhase(phase) && isFinished(workflow) && !isDeleting(workflow) ? 'failed' : undefined;
}

/**
 * The milestones of a schedule: those of its last run. Argo starts no run while another one runs, and counts their ends. `announced` holds the
 * run and both counts, so that no end is taken for another.
 */
function runMilestones(
  { lastScheduled, activeWorkflowRef, succeeded = 0, failed = 0 }: ArtifactWorkflowStatus,
  now: Date,
  since: string,
): Milestone<ArtifactMilestone>[] {
  const [knownRun = '', counts = ''] = since.split('/');
  const [knownSucceeded = 0, knownFailed = 0] = counts.split('+').map(Number);
  const scheduled = timeOf(lastScheduled, new Date(0));
  const run = isoSeconds(scheduled.getTime());
  const found: Milestone<ArtifactMilestone>[] = [];
  // A recreated CronWorkflow counts from zero: its ends need ids that differ from those of its predecessor.
  const countOf = (count: number, known: number) => (count < known ? `${run}/${count}` : String(count));
  if (failed > 0 && failed !== knownFailed)
    found.push(
      milestone('failed', countOf(failed, knownFailed), now, `${knownRun}/${knownSucceeded}+${failed}`),
    );
  if (succeeded > 0 && succeeded !== knownSucceeded)
    found.push(
      milestone('succeeded', countOf(succeeded, knownSucceeded), now, `${knownRun}/${succeeded}+${failed}`),
    );
  if (activeWorkflowRef !== undefined && run !== knownRun)
    found.push(milestone('started', run, timeOf(lastScheduled, now), `${run}/${succeeded}+${failed}`));
  return found;
}

function timeOf(text: string | undefined, otherwise: Date): Date {
  const ms = instantOf(text);
  return ms === undefined ? otherwise : new Date(ms);
}
