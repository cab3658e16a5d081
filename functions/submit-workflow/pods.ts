import { isoSeconds, ownerOfKind } from '#shared/base/meta';
import { findPod, ignoreNotFound, namespaceOf, writeStatus } from '#shared/conduit/function-kit';
import type { Context } from '#shared/conduit/runtime';
import {
  type ArtifactWorkflow,
  artifactWorkflows,
  type Hold,
  isAnyRun,
  isDeleting,
  stopBegan,
  workflows,
} from '#shared/domain';
import { remove } from './argo.ts';

/** Returns true once every pod of these stopped Workflows has ended. Pods are not watched: until then the step stays due, and is repeated. */
export async function havePodsEnded(
  context: Context,
  workflow: ArtifactWorkflow,
  names: readonly string[],
): Promise<boolean> {
  const pod = await endPods(context, workflow, names);
  if (pod === undefined) return true;
  const message = `pod "${pod}" of a Workflow that was stopped has not ended`;
  await noteWait(context, workflow, { reason: 'PlaceInUse', message });
  return false;
}

/**
 * Makes the pods of these Workflows end, and resolves with the name of a Workflow whose pod is still there. Argo only sends SIGTERM to the
 * process of a pod (seen with Argo 3.7), which may ignore it. After the deletion of its Workflow the garbage collector deletes the pod,
 * and the kubelet kills it after its grace period.
 */
export async function endPods(
  context: Context,
  workflow: ArtifactWorkflow,
  names: readonly string[],
): Promise<string | undefined> {
  const pod = await findPod(context, workflow, names);
  if (pod !== undefined)
    for (const name of names.filter((one) => !isAnyRun(one))) await discard(context, workflow, name);
  return pod;
}

/** Deletes a stopped Workflow of ours. */
async function discard(context: Context, workflow: ArtifactWorkflow, name: string): Promise<void> {
  const key = { ...namespaceOf(workflow), name };
  const found = await ignoreNotFound(context.api.get(workflows, key, context.signal));
  if (!found || isDeleting(found) || !found.spec.shutdown) return;
  if (ownerOfKind(found, 'ArtifactWorkflow') !== undefined) await remove(context, found);
}

/** Records in the status what is waited for without an event, and since when. */
export async function noteWait(
  context: Context,
  workflow: ArtifactWorkflow,
  { reason, message }: Hold,
): Promise<void> {
  const stopSince = isoSeconds(stopBegan(workflow, context.now));
  const status = { waitReason: reason, waitMessage: message, stopSince };
  await writeStatus(context, artifactWorkflows, workflow, status);
}
