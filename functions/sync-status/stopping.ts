import { findPod, ignoreForbidden, writeStatus } from '#shared/conduit/function-kit';
import type { Context } from '#shared/conduit/runtime';
import { type ArtifactWorkflow, artifactWorkflows, runsOf } from '#shared/domain';

/**
 * True while a pod of a stopped ArtifactWorkflow still runs. Argo reports a Workflow as ended as soon as its shutdown is requested, but a pod
 * that ignores SIGTERM writes to its destination until submit-workflow has it deleted: until then the ArtifactWorkflow is not Cancelled, and
 * the step stays due. Without the right to read pods, Argo's report is trusted.
 */
export async function isStopping(context: Context, workflow: ArtifactWorkflow): Promise<boolean> {
  const pod = await ignoreForbidden(findPod(context, workflow, runsOf(workflow)));
  if (pod === undefined) return false;
  await writeStatus(context, artifactWorkflows, workflow, {
    message: `stopping: pod "${pod}" has not ended`,
  });
  return true;
}
