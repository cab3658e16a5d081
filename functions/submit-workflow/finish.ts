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
  return isEndRecorded(workflow, order) || isOverwritten(workflow, await readRivals(context, workflow));
}
