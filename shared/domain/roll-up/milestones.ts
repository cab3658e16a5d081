import { instantOf, isoSeconds, type KubeObject } from '#shared/base/meta';
import type { ArtifactWorkflow, ArtifactWorkflowStatus } from '../kinds/artifact-workflow.ts';
import type { Order, OrderStatus } from '../kinds/order.ts';
import { currentWorkflow, isFinished } from '../lifecycle/attempts.ts';
import { isDeleting, isFinalPhase, phaseOf } from '../lifecycle/phases.ts';
import { shortHash } from '../values/hash.ts';

/** A turn in the life of one object that subscribers get an event for. */
export interface Milestone<Name extends string> {
  name: Name;
  /** Identifies the time: unique together with the object's uid and the name. */
  occurrence: string;
  /** What `status.announced` holds once it was announced. */
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

/** The milestones of an object that its status shows and that were not announced, in their order; `since` as for `orderMilestones`. */
function milestones(
  object: Announced,
  now: Date,
  since?: string,
): Milestone<OrderMilestone | ArtifactMilestone>[] {
  return object.kind === 'Order'
    ? orderMilestones(object as Order, now, since)
    : artifactMilestones(object as ArtifactWorkflow, now, since);
}

/** What `status.announced` is to hold while nothing is left to announce; '' for none. */
export function lastMilestone(object: Announced): string {
  return milestones(object, new Date(0), '').at(-1)?.announced ?? '';
}

/**
 * What the first write of a status says was announced: what it showed before. A status of an earlier version does not say, and is not announced again.
 */
export function firstAnnounced(object: KubeObject): { announced?: string } {
  if (!isAnnounced(object) || object.status?.announced !== undefined) return {};
  return { announced: lastMilestone(object) };
}

/**
 * The milestones of an Order that its status shows and that were not announced, in their order. Every generation is accepted, and every end counts:
 * after an edit, a new credential or a force there is another one. An Order without artifacts is accepted and has no end. The
 * deletion of an Order is a new generation too, but not a milestone.
 *
 * @param since what `status.announced` held after the last one; undefined where nothing is known of that: then none is due
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
    // The artifacts ended before this generation was accepted: for this generation they end now.
    ...(end === undefined || end.announced === since ? [] : [isAccepted ? end : { ...end, time: now }]),
  ];
}

/** The end that a status shows: the time when the last artifact ended, or later, when no artifact was left to run but those on a schedule. */
function endOf(status: OrderStatus): Milestone<OrderMilestone> | undefined {
  const { phase, conditions = [], completionTime, counts } = status;
  // An Order without artifacts has completed nothing.
  if (counts?.total === 0) return undefined;
  if (phase === 'Scheduled' || phase === 'Running') return failureBesideSchedules(status);
  if (phase !== 'Succeeded' && phase !== 'Failed') return undefined;
  const [name, decisive] =
    phase === 'Succeeded' ? (['completed', 'Ready'] as const) : (['failed', 'Stalled'] as const);
  const turned = conditions.find(({ type }) => type === decisive)?.lastTransitionTime;
  const latest = Math.max(...[completionTime, turned].map((text) => instantOf(text) ?? 0));
  return endAt(status, name, latest);
}

/** A failure of the other artifacts. With each run of a schedule phase and conditions come and go: what has ended says when. */
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

/** Kubernetes' times are in whole seconds: what had ended tells two ends within one second apart. */
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
 * The milestones of an artifact that its status shows and that were not announced, in their order: its Workflow runs, has succeeded, or has failed
 * and no attempt will follow.
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
  // An attempt that has ended one way and then another started only once.
  const isEndKnown = known < 0 && since.split('/', 1)[0] === occurrence;
  return isEndKnown ? shown.filter(({ name }) => name !== 'started') : shown.slice(known + 1);
}

function standingOf(workflow: ArtifactWorkflow): ArtifactMilestone | undefined {
  const phase = phaseOf(workflow);
  if (phase === 'Running') return 'started';
  if (phase === 'Succeeded') return 'succeeded';
  // A version that was replaced or cancelled was stopped on purpose: it has not failed.
  if (phase === 'Cancelled') return undefined;
  return isFinalPhase(phase) && isFinished(workflow) && !isDeleting(workflow) ? 'failed' : undefined;
}

/**
 * For a schedule: the last run. Argo starts none while another runs, and counts how they end. `announced` holds the run and both counts, so that
 * one end is never taken for the other.
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
  // A CronWorkflow that was created again counts from zero: its ends have another id than those of the former one.
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
