import { isoSeconds, ownerOfKind } from '#shared/base/meta';
import {
  findPod,
  ignoreNotFound,
  namespaceOf,
  readOwner,
  readOwnerMetadata,
  removeFinalizer,
  writeStatus,
} from '#shared/conduit/function-kit';
import type { Context } from '#shared/conduit/runtime';
import {
  type ArtifactWorkflow,
  artifactWorkflows,
  finalizers,
  type Hold,
  holdStatus,
  isAnyRun,
  isDeleting,
  isEndRecorded,
  isOverwritten,
  leavesRecord,
  stopBegan,
  workflows,
} from '#shared/domain';
import { remove } from './argo.ts';
import { giveSlotsBack, readConflicting } from './slots.ts';

/**
 * Removes the finalizer: after the pods of the stopped Workflows `after` have ended, and, for a finished ArtifactWorkflow, after the Order's
 * status has recorded its end. Without that record the Order would run the artifact again.
 */
export async function finish(
  context: Context,
  workflow: ArtifactWorkflow,
  after: readonly string[],
): Promise<void> {
  if (!(await havePodsEnded(context, workflow, after))) return;
  if (await isKnown(context, workflow)) {
    await giveSlotsBack(context, workflow);
    return removeFinalizer(context, artifactWorkflows, workflow, finalizers.workflow);
  }
  const message = 'the status of its Order does not show yet how it ended';
  await noteWait(context, workflow, { reason: 'Ending', message });
}

async function isKnown(context: Context, workflow: ArtifactWorkflow): Promise<boolean> {
  if (!leavesRecord(workflow)) return true;
  // A child deleted by its Order's deletion has a later deletionTimestamp: no more need be read when an Order goes with all its children.
  const about = await readOwnerMetadata(context, workflow);
  if (about === undefined || isDeleting(about)) return true;
  const order = await readOwner(context, about);
  return isEndRecorded(workflow, order) || isOverwritten(workflow, await readConflicting(context, workflow));
}

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
export async function noteWait(context: Context, workflow: ArtifactWorkflow, hold: Hold): Promise<void> {
  const stopSince = isoSeconds(stopBegan(workflow, context.now));
  await writeStatus(context, artifactWorkflows, workflow, { ...holdStatus(hold), stopSince });
}
