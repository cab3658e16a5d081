import { ArcError } from '#shared/base/errors';
import { isOwnedBy, isoSeconds, ownerReference } from '#shared/base/meta';
import { isCompleted } from '#shared/domain';
import type { Workflow } from '../executor/workflow.ts';
import { parseSchedule } from '../kinds/schedule.ts';
import { parseWhen } from '../kinds/when.ts';
import type { CronWorkflow, CronWorkflowStatus } from './cron-workflow.ts';

/** Default of startingDeadlineSeconds: timers are never exact. */
const usualLatenessMs = 10_000;

export interface CronDecision {
  /** The Workflow to start now. Its name is derived from the scheduled time, so that creating it twice creates one. */
  start?: Workflow;
  /** Why `when` could not be evaluated: the due run is skipped. */
  problem?: ArcError;
  /** Runs to terminate first (concurrencyPolicy Replace). */
  replace: Workflow[];
  /** Ended runs beyond the history limits. */
  remove: Workflow[];
  /** The changed status; written with the resourceVersion as a guard, so that each end is counted once. */
  status?: CronWorkflowStatus;
  /** When to decide again without a change, ms since the epoch. */
  next?: number;
}

/**
 * Decides like Argo's controller for a CronWorkflow whose runs are among `workflows` (Argo's documentation: Cron Workflows). `before` is the
 * last scheduled time that was decided on: a skipped run is not made up for when the previous run ends.
 */
export function decideCron(
  cron: CronWorkflow,
  workflows: readonly Workflow[],
  now: Date,
  before?: Date,
): CronDecision & { considered?: Date } {
  const runs = workflows.filter((one) => isOwnedBy(one, cron));
  const running = runs.filter(
    ({ status, metadata }) => !isCompleted(status?.phase) && !metadata.deletionTimestamp,
  );
  const remove = beyondHistory(cron, runs);
  if (cron.metadata.deletionTimestamp !== undefined) return { replace: [], remove: [] };
  const due = cron.spec.suspend === true ? undefined : dueTime(cron, now, before);
  const skipped = due !== undefined && cron.spec.concurrencyPolicy === 'Forbid' && running.length > 0;
  const verdict = due === undefined || skipped ? false : mayRun(cron, now);
  const start = due !== undefined && verdict === true ? runOf(cron, due) : undefined;
  const status = statusOf(cron, runs, start, due);
  const next = cron.spec.suspend === true ? undefined : nextTime(cron, now);
  return {
    replace: start && cron.spec.concurrencyPolicy === 'Replace' ? running : [],
    remove,
    ...(start === undefined ? {} : { start }),
    ...(verdict instanceof ArcError ? { problem: verdict } : {}),
    ...(status === undefined ? {} : { status }),
    ...(next === undefined ? {} : { next }),
    ...(due === undefined ? {} : { considered: due }),
  };
}

function schedulesOf({ spec }: CronWorkflow): string[] {
  return [...(spec.schedule === undefined ? [] : [spec.schedule]), ...(spec.schedules ?? [])];
}

/** Returns the time after which runs are due: that of the last run, or of the creation. */
function sinceOf({ metadata, status }: CronWorkflow): Date {
  return new Date(status?.lastScheduledTime ?? metadata.creationTimestamp ?? 0);
}

function dueTime(cron: CronWorkflow, now: Date, before: Date | undefined): Date | undefined {
  const since = sinceOf(cron);
  const { timezone, startingDeadlineSeconds } = cron.spec;
  const lateness = startingDeadlineSeconds == null ? usualLatenessMs : startingDeadlineSeconds * 1_000;
  const [latest] = schedulesOf(cron)
    .map((text) => parseSchedule(text, timezone).last(now, since))
    .filter((time) => time !== undefined)
    .sort((a, b) => b.getTime() - a.getTime());
  if (latest === undefined || now.getTime() - latest.getTime() > lateness) return undefined;
  return before !== undefined && latest <= before ? undefined : latest;
}

function nextTime(cron: CronWorkflow, now: Date): number | undefined {
  const since = sinceOf(cron);
  const times = schedulesOf(cron).map((text) => parseSchedule(text, cron.spec.timezone).next(now, since));
  const known = times.filter((time) => time !== undefined).map((time) => time.getTime());
  return known.length === 0 ? undefined : Math.min(...known);
}

/** Evaluates `when` for a due run; returns an error if its types do not fit. */
function mayRun({ spec, status }: CronWorkflow, now: Date): boolean | ArcError {
  if (spec.when === undefined || spec.when === '') return true;
  const last = status?.lastScheduledTime;
  try {
    return parseWhen(spec.when)({
      failed: status?.failed ?? 0,
      succeeded: status?.succeeded ?? 0,
      now: now.getTime(),
      lastScheduledTime: last == null ? undefined : Date.parse(last),
    });
  } catch (caught) {
    return ArcError.from(caught);
  }
}

/** Names and labels the run as Argo does. */
function runOf(cron: CronWorkflow, at: Date): Workflow {
  const { name, namespace, labels = {} } = cron.metadata;
  const { workflowMetadata, workflowSpec } = cron.spec;
  const instance = labels['workflows.argoproj.io/controller-instanceid'];
  return {
    apiVersion: cron.apiVersion,
    kind: 'Workflow',
    metadata: {
      name: `${name}-${Math.floor(at.getTime() / 1_000)}`,
      ...(namespace === undefined ? {} : { namespace }),
      labels: {
        ...workflowMetadata?.labels,
        ...(instance === undefined ? {} : { 'workflows.argoproj.io/controller-instanceid': instance }),
        'workflows.argoproj.io/cron-workflow': name,
      },
      annotations: {
        ...workflowMetadata?.annotations,
        'workflows.argoproj.io/scheduled-time': isoSeconds(at.getTime()),
      },
      ownerReferences: [ownerReference(cron)],
    },
    spec: workflowSpec,
  };
}

function statusOf(
  cron: CronWorkflow,
  runs: readonly Workflow[],
  start: Workflow | undefined,
  due: Date | undefined,
): CronWorkflowStatus | undefined {
  const { active: before, succeeded = 0, failed = 0, lastScheduledTime } = cron.status ?? {};
  const known = before ?? [];
  const runOfName = new Map(runs.map((run) => [run.metadata.name, run]));
  // A run that this process started but did not record is recorded when it is observed.
  const wanted = [
    ...known.map(({ name }) => name).filter((name) => isRunning(runOfName.get(name))),
    ...runs.filter(isRunning).map(({ metadata }) => metadata.name),
  ];
  const active = [...new Set([...wanted, ...(start ? [start.metadata.name] : [])])].sort();
  const ended = known.flatMap(({ name }) => runOfName.get(name)?.status?.phase ?? []).filter(isCompleted);
  const good = ended.filter((phase) => phase === 'Succeeded').length;
  const last = start && due ? isoSeconds(due.getTime()) : lastScheduledTime;
  const same =
    last === lastScheduledTime &&
    ended.length === 0 &&
    active.join() ===
      known
        .map(({ name }) => name)
        .sort()
        .join();
  if (same) return undefined;
  return {
    active: active.map((name) => referenceTo(cron, name, runOfName.get(name))),
    succeeded: succeeded + good,
    failed: failed + ended.length - good,
    phase: 'Active',
    ...(last == null ? {} : { lastScheduledTime: last }),
  };
}

function isRunning(run: Workflow | undefined): boolean {
  return run !== undefined && !isCompleted(run.status?.phase);
}

function referenceTo({ apiVersion, metadata }: CronWorkflow, name: string, run: Workflow | undefined) {
  const { namespace } = metadata;
  const uid = run?.metadata.uid;
  return {
    apiVersion,
    kind: 'Workflow',
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
  };
}

/** Returns the counted, ended runs beyond the history limits, by default three succeeded runs and one failed. */
function beyondHistory(cron: CronWorkflow, runs: readonly Workflow[]): Workflow[] {
  const { successfulJobsHistoryLimit, failedJobsHistoryLimit } = cron.spec;
  const counted = new Set(cron.status?.active?.map(({ name }) => name));
  const ended = runs
    .filter(({ metadata, status }) => isCompleted(status?.phase) && !counted.has(metadata.name))
    .sort((a, b) => endOf(b) - endOf(a));
  const good = ended.filter(({ status }) => status?.phase === 'Succeeded');
  const bad = ended.filter(({ status }) => status?.phase !== 'Succeeded');
  return [...good.slice(successfulJobsHistoryLimit ?? 3), ...bad.slice(failedJobsHistoryLimit ?? 1)];
}

function endOf({ status }: Workflow): number {
  return Date.parse(status?.finishedAt ?? '') || 0;
}
