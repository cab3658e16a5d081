import type { Context } from '#shared/conduit/runtime';
import { type ArtifactWorkflow, isLostPod, isPodOfRuns, podSelector, pods } from '#shared/domain';
import { ignoreNotFound } from './api-errors.ts';
import { namespaceOf } from './metadata.ts';

/**
 * The name of a pod of these Workflows, which were stopped for `workflow`, that has not ended; undefined where all have, or where the ones left
 * are on a node that is lost. Pods are not watched: ask again.
 */
export async function findPod(
  { api, now, signal }: Context,
  workflow: ArtifactWorkflow,
  names: readonly string[],
): Promise<string | undefined> {
  if (names.length === 0) return undefined;
  const selection = {
    ...namespaceOf(workflow),
    labelSelector: podSelector(names),
    fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed',
    // What a pod is made of is none of our business.
    metadataOnly: true,
  };
  const found = await ignoreNotFound(api.list(pods, selection, signal));
  const left = found?.items.find((pod) => isPodOfRuns(pod, names) && !isLostPod(pod, workflow, now));
  return left?.metadata.name;
}
