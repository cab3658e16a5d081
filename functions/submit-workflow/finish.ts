import { readOwner, readOwnerMetadata, removeFinalizer } from '#shared/conduit/function-kit';
import type { Context } from '#shared/conduit/runtime';
import {
  type ArtifactWorkflow,
  artifactWorkflows,
  finalizers,
  isDeleting,
  isEndRecorded,
  isOverwritten,
  leavesRecord,
} from '#shared/domain';
import { havePodsEnded, noteWait } from './pods.ts';
import { readRivals } from './rivals.ts';
import { giveSlotsBack } from './slots.ts';

/**
 * Takes the finalizer off: once the pods of the Workflows `after`, which were stopped, have ended, and once the Order's status shows the end
 * of one that had finished. Without that record the Order would run the artifact again.
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
  // A child that goes because its Order goes was marked after it: nothing else has to be read of an Order that is deleted with all its children.
  const about = await readOwnerMetadata(context, workflow);
  if (about === undefined || isDeleting(about)) return true;
  const order = await readOwner(context, about);
  return isEndRecorded(workflow, order) || isOverwritten(workflow, await readRivals(context, workflow));
}
