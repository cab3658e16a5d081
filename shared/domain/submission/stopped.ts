import { instantOf } from '#shared/base/meta';
import type { CronWorkflow, Workflow } from '../kinds/argo.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Pod } from '../kinds/core.ts';
import { labels } from '../kinds/well-known.ts';
import { hasEnded, isDeleting, phaseOf } from '../lifecycle/phases.ts';

/**
 * A stopped Workflow ends before its pods do: Argo reports it Failed while a pod uses its grace period, and the pods of a deleted Workflow
 * are left to the garbage collector. So after a stop, and only then, submit-workflow waits for the pods.
 */

/** Time for a Workflow to end after its shutdown before it is deleted, and the same time again before the garbage collector is left to it; ms. */
export const stopGraceMs = 60_000;

/**
 * Returns when submit-workflow began to stop it, or `now` before that, in Unix milliseconds. By submit-workflow's clock: the API server's,
 * which sets deletionTimestamp, may differ by minutes, and the grace period would be over at once.
 */
export function stopBegan({ status }: ArtifactWorkflow, now: Date): number {
  return instantOf(status?.stopSince) ?? now.getTime();
}

/** Returns the names of the Workflows whose pods may outlive the stop of this ArtifactWorkflow. `running` is its Workflow, if it exists. */
export function stoppedRuns(
  workflow: ArtifactWorkflow,
  running: Workflow | CronWorkflow | undefined,
): string[] {
  const bySelf = running ? running.spec.shutdown === undefined : hasEnded(workflow) && !wasStopped(workflow);
  return bySelf ? [] : runsOf(workflow);
}

/**
 * Returns the names of the Workflows of these ArtifactWorkflows that were stopped recently: within a time that lets pods end, but does not let
 * a pod on a lost node block others forever. Counted from when submit-workflow first waited for them, else from when sync-status saw the end,
 * never from Argo's time.
 */
export function recentlyStoppedRuns(workflows: readonly ArtifactWorkflow[], now: Date): string[] {
  const recent = workflows.filter((workflow) => {
    const { stopSince, conditions } = workflow.status ?? {};
    const seen = conditions?.find(({ type }) => type === 'Reconciling')?.lastTransitionTime;
    const began = instantOf(stopSince ?? seen) ?? Number.NEGATIVE_INFINITY;
    return wasStopped(workflow) && now.getTime() - began < 2 * stopGraceMs;
  });
  return recent.flatMap(runsOf);
}

/**
 * Returns the names of the Workflows of an attempt that is started again: its Workflow was deleted while it ran, and the garbage collector
 * stops its pods. Empty for a first start.
 */
export function lostRuns(workflow: ArtifactWorkflow, attempt: number): string[] {
  return workflow.status?.workflowRef?.attempt === attempt ? runsOf(workflow) : [];
}

/** True for a terminating pod that `workflow` has waited for long enough, as on a lost node. */
export function isLostPod(
  { metadata }: Pick<Pod, 'metadata'>,
  workflow: ArtifactWorkflow,
  now: Date,
): boolean {
  return isDeleting({ metadata }) && now.getTime() - stopBegan(workflow, now) >= 2 * stopGraceMs;
}

/** Returns a selector for the pods of runs, by Argo's label. For schedules it selects too much: see `isPodOfRuns`. */
export function podSelector(names: readonly string[]): string {
  return names.some(isAnyRun) ? labels.argoWorkflow : `${labels.argoWorkflow} in (${names.join(',')})`;
}

/** True for a pod of one of these runs, named as by `runsOf`. */
export function isPodOfRuns({ metadata }: Pick<Pod, 'metadata'>, names: readonly string[]): boolean {
  const run = metadata.labels?.[labels.argoWorkflow] ?? '';
  // Argo names the runs of a schedule after it, with a numeric suffix.
  return names.includes(run) || names.includes(run.replace(/-\d+$/, anyRun));
}

function wasStopped(workflow: ArtifactWorkflow): boolean {
  const phase = phaseOf(workflow);
  return phase === 'Stopped' || phase === 'Cancelled';
}

/** Suffix of a CronWorkflow's name that stands for all of its runs. */
const anyRun = '-*';

/** True for a name of `runsOf` that stands for several Workflows. */
export function isAnyRun(name: string): boolean {
  return name.endsWith(anyRun);
}

/**
 * Returns the name of the Workflow of the current attempt; for a schedule a name that stands for all of its runs: a run may have started, and
 * lost its Workflow, before the status named it.
 */
export function runsOf({ status = {} }: ArtifactWorkflow): string[] {
  const { workflowRef, activeWorkflowRef } = status;
  const all = workflowRef?.kind === 'CronWorkflow' ? `${workflowRef.name}${anyRun}` : undefined;
  return [workflowRef?.name, activeWorkflowRef?.name, all].filter((name) => name !== undefined);
}
