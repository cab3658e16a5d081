import { type ArtifactWorkflow, artifactWorkflows, runsOf } from '#shared/domain';
import { ArcError } from '#shared/errors';
import { findPod, ignoreForbidden, writeStatus } from '#shared/function-kit';
import type { Context, Wake } from '#shared/runtime';

/**
 * True while a pod of one that is stopped goes on. Argo calls a Workflow ended at once that is told to, and a pod that ignores SIGTERM
 * writes to its destination until submit-workflow has seen to its end: until then it is not Cancelled. Rejects with Conflict, so that the broker
 * asks again, at first soon; but not for a wake that comes again by itself. Where it may not look at pods (the namespace was not given to ARC, or
 * not again since this right was added), it takes Argo's word.
 */
export async function isStopping(context: Context, wake: Wake, workflow: ArtifactWorkflow): Promise<boolean> {
  const pod = await ignoreForbidden(findPod(context, workflow, runsOf(workflow)));
  if (pod === undefined) return false;
  const message = `stopping: pod "${pod}" has not ended`;
  await writeStatus(context, artifactWorkflows, workflow, { message });
  if (wake.reason === 'resync' || wake.reason === 'due') return true;
  throw new ArcError('Conflict', `ArtifactWorkflow "${workflow.metadata.name}" is ${message}`);
}
