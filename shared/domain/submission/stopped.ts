import type { CronWorkflow, Workflow } from '../kinds/argo.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Pod } from '../kinds/core.ts';
import { labels } from '../kinds/well-known.ts';
import { hasEnded, phaseOf } from '../lifecycle/phases.ts';

/**
 * A Workflow that is stopped has ended before its pods have: Argo calls it Failed while a pod goes on for its grace period, and one that
 * is deleted leaves its pods to the garbage collector. So after a stop, and only then, the pods are looked at.
 */

/** How long a Workflow may take to end after its shutdown, before it is deleted; and again as long until it is left to the garbage collector. */
export const stopGraceMs = 60_000;

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
 * long that a pod on a lost node holds up others for ever. The time is when sync-status saw the end, not when Argo says it was.
 */
export function recentlyStoppedRuns(workflows: readonly ArtifactWorkflow[], now: Date): string[] {
  const recent = workflows.filter((workflow) => {
    const seen = workflow.status?.conditions?.find(({ type }) => type === 'Reconciling')?.lastTransitionTime;
    return wasStopped(workflow) && now.getTime() - Date.parse(seen ?? '') < 2 * stopGraceMs;
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

/** True for a pod that was to have ended long ago, as on a node that is lost: nobody waits for it. */
export function isLostPod({ metadata }: Pick<Pod, 'metadata'>, now: Date): boolean {
  return now.getTime() - Date.parse(metadata.deletionTimestamp ?? '') >= 2 * stopGraceMs;
}

/** Selects the pods of Workflows, by the label that Argo puts on them. */
export function podSelector(names: readonly string[]): string {
  return `${labels.argoWorkflow} in (${names.join(',')})`;
}

function wasStopped(workflow: ArtifactWorkflow): boolean {
  const phase = phaseOf(workflow);
  return phase === 'Stopped' || phase === 'Cancelled';
}

/** The Workflow of the attempt in force, and of a schedule the run under way. */
function runsOf({ status = {} }: ArtifactWorkflow): string[] {
  const names = [status.workflowRef?.name, status.activeWorkflowRef?.name];
  return names.filter((name) => name !== undefined);
}
