import { type ArtifactWorkflow, artifactWorkflows, podSelector, pods } from '#shared/domain';
import { ArcError } from '#shared/errors';
import { ignoreNotFound, namespaceOf, writeStatus } from '#shared/function-kit';
import type { Context, Wake } from '#shared/runtime';

/**
 * True once no pod of these Workflows, which were stopped, is left that has not ended. Pods are not watched: while one is left it rejects
 * with Conflict, so that the broker asks again, at first soon; a wake that comes again by itself gets false.
 */
export async function havePodsEnded(
  context: Context,
  wake: Wake,
  workflow: ArtifactWorkflow,
  names: readonly string[],
): Promise<boolean> {
  const pod = names.length === 0 ? undefined : await findPod(context, workflow, names);
  if (pod === undefined) return true;
  const waitMessage = `pod "${pod}" of a Workflow that was stopped has not ended`;
  await writeStatus(context, artifactWorkflows, workflow, { waitMessage });
  if (wake.reason === 'resync' || wake.reason === 'due') return false;
  throw new ArcError('Conflict', `ArtifactWorkflow "${workflow.metadata.name}" waits: ${waitMessage}`);
}

/** The name of a pod that has not ended. Where there are no pods, as in the standalone, a Workflow ends with its processes. */
async function findPod(
  { api, signal }: Context,
  workflow: ArtifactWorkflow,
  names: readonly string[],
): Promise<string | undefined> {
  const selection = {
    ...namespaceOf(workflow),
    labelSelector: podSelector(names),
    fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed',
    // What a pod is made of is none of our business.
    metadataOnly: true,
    limit: 1,
  };
  const found = await ignoreNotFound(api.list(pods, selection, signal));
  return found?.items[0]?.metadata.name;
}
