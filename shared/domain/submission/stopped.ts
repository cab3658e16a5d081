import { instantOf } from '#shared/base/meta';
import type { CronWorkflow, Workflow } from '../kinds/argo.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Pod } from '../kinds/core.ts';
import { labels } from '../kinds/well-known.ts';
import { hasEnded, isDeleting, phaseOf } from '../lifecycle/phases.ts';

/**
 * A Workflow that is stopped has ended before its pods have: Argo calls it Failed while a pod goes on for its grace period, and one that
 * is deleted leaves its pods to the garbage collector. So after a stop, and only then, the pods are looked at.
 */

/** How long a Workflow may take to end after its shutdown, before it is deleted; and again as long until it is left to the garbage collector. */
export const stopGraceMs = 60_000;

/**
 * When submit-workflow began to stop it, or `now` where it has not, in Unix milliseconds. By its own clock: that of the API server, which
 * writes deletionTimestamp, may be minutes off, and the time to stop would be over before it began.
 */
export function stopBegan({ status }: ArtifactWorkflow, now: Date): number {
  return instantOf(status?.stopSince) ?? now.getTime();
}

/** Names of the Workflows whose pods may outlive the stop of this ArtifactWorkflow. `running` is its Workflow, if it exists. */
export function stoppedRuns(
  workflow: ArtifactWorkflow,
  running: Workflow | CronWorkflow | undefined,
): string[] {
  const bySelf = running ? running.spec.shutdown === undefined : hasEnded(workflow) && !wasStopped(workflow);
  return bySelf ? [] : runsOf(workflow);
}

/**
 * Names of the Workflows of these ArtifactWorkflows that were stopped a short while ago: long enough for their pods to end, and not so
 * long that a pod on a lost node holds up others for ever. The time is when submit-workflow first waited for them; for others, when sync-status
 * saw the end, not when Argo says it was.
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
 * Names of the Workflows of an attempt that starts though it has started before: its Workflow was deleted while it ran, and the garbage
 * collector stops its pods. None for a first start.
 */
export function lostRuns(workflow: ArtifactWorkflow, attempt: number): string[] {
  return workflow.status?.workflowRef?.attempt === attempt ? runsOf(workflow) : [];
}

/** True for a pod that was told to end and for which `workflow` has waited long enough, as on a node that is lost: nobody waits on. */
export function isLostPod(
  { metadata }: Pick<Pod, 'metadata'>,
  workflow: ArtifactWorkflow,
  now: Date,
): boolean {
  return isDeleting({ metadata }) && now.getTime() - stopBegan(workflow, now) >= 2 * stopGraceMs;
}

/** Selects the pods of runs, by the label that Argo puts on them; others too where a schedule is among them: see `isPodOfRuns`. */
export function podSelector(names: readonly string[]): string {
  return names.some(isAnyRun) ? labels.argoWorkflow : `${labels.argoWorkflow} in (${names.join(',')})`;
}

/** True for a pod of one of these runs, as `runsOf` names them. */
export function isPodOfRuns({ metadata }: Pick<Pod, 'metadata'>, names: readonly string[]): boolean {
  const run = metadata.labels?.[labels.argoWorkflow] ?? '';
  // Argo calls the runs of a schedule by its name and a number.
  return names.includes(run) || names.includes(run.replace(/-\d+$/, anyRun));
}

function wasStopped(workflow: ArtifactWorkflow): boolean {
  const phase = phaseOf(workflow);
  return phase === 'Stopped' || phase === 'Cancelled';
}

/** Stands, after the name of a CronWorkflow, for each of its runs. */
const anyRun = '-*';

/** True where a name of `runsOf` is not that of one Workflow. */
export function isAnyRun(name: string): boolean {
  return name.endsWith(anyRun);
}

/**
 * Names of the Workflow of the attempt in force; of a schedule all of its runs: one may have started, and lost its Workflow, before the status
 * could name it.
 */
export function runsOf({ status = {} }: ArtifactWorkflow): string[] {
  const { workflowRef, activeWorkflowRef } = status;
  const all = workflowRef?.kind === 'CronWorkflow' ? `${workflowRef.name}${anyRun}` : undefined;
  return [workflowRef?.name, activeWorkflowRef?.name, all].filter((name) => name !== undefined);
}
