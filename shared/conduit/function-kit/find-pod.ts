import type { Context } from '#shared/conduit/runtime';
import { type ArtifactWorkflow, isLostPod, isPodOfRuns, podSelector, pods } from '#shared/domain';
import { ignoreNotFound } from './api-errors.ts';
import { namespaceOf } from './metadata.ts';

/**
 * Returns the name of a pod of these stopped Workflows that has not ended; undefined when all have ended, or when the remaining pods
 * are on a lost node. Pods are not watched: ask again.
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
    // The pod's spec is not needed.
    metadataOnly: true,
  };
  const found = await ignoreNotFound(api.list(pods, selection, signal));
  const left = found?.items.find((pod) => isPodOfRuns(pod, names) && !isLostPod(pod, workflow, now));
  return left?.metadata.name;
}
