import { type ArtifactWorkflow, isLostPod, podSelector, pods } from '#shared/domain';
import { ignoreNotFound, namespaceOf } from '#shared/function-kit';
import type { Context, Wake } from '#shared/runtime';
import { waitAgain } from './again.ts';

/** True once no pod of these Workflows, which were stopped, is left that has not ended. Pods are not watched: see `waitAgain`. */
export async function havePodsEnded(
  context: Context,
  wake: Wake,
  workflow: ArtifactWorkflow,
  names: readonly string[],
): Promise<boolean> {
  const pod = names.length === 0 ? undefined : await findPod(context, workflow, names);
  if (pod === undefined) return true;
  const message = `pod "${pod}" of a Workflow that was stopped has not ended`;
  await waitAgain(context, wake, workflow, { reason: 'PlaceInUse', message });
  return false;
}

/** The name of a pod that has not ended. Where there are no pods, as in the standalone, a Workflow ends with its processes. */
async function findPod(
  { api, now, signal }: Context,
  workflow: ArtifactWorkflow,
  names: readonly string[],
): Promise<string | undefined> {
  const selection = {
    ...namespaceOf(workflow),
    labelSelector: podSelector(names),
    fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed',
    // What a pod is made of is none of our business.
    metadataOnly: true,
  };
  const found = await ignoreNotFound(api.list(pods, selection, signal));
  return found?.items.find((pod) => !isLostPod(pod, workflow, now))?.metadata.name;
}
