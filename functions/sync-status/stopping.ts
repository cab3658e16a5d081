import { findPod, ignoreForbidden, writeStatus } from '#shared/conduit/function-kit';
import type { Context } from '#shared/conduit/runtime';
import { type ArtifactWorkflow, artifactWorkflows, runsOf } from '#shared/domain';

/**
 * True while a pod of one that is stopped goes on. Argo calls a Workflow ended at once that is told to, and a pod that ignores SIGTERM
 * writes to its destination until submit-workflow has seen to its end: until then it is not Cancelled, and the step stays due. Where it may not
 * look at pods (the namespace was not given to ARC, or not again since this right was added), it takes Argo's word.
 */
export async function isStopping(context: Context, workflow: ArtifactWorkflow): Promise<boolean> {
  const pod = await ignoreForbidden(findPod(context, workflow, runsOf(workflow)));
  if (pod === undefined) return false;
  await writeStatus(context, artifactWorkflows, workflow, {
    message: `stopping: pod "${pod}" has not ended`,
  });
  return true;
}
