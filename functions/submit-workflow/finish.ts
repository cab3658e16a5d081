import {
  type ArtifactWorkflow,
  artifactWorkflows,
  finalizers,
  isDeleting,
  isEndRecorded,
  isOverwritten,
  leavesRecord,
  orders,
} from '#shared/domain';
import { namespaceOf, removeFinalizer } from '#shared/function-kit';
import { ownerOfKind } from '#shared/meta';
import type { Context, Wake } from '#shared/runtime';
import { waitAgain } from './again.ts';
import { havePodsEnded } from './pods.ts';
import { readRivals } from './rivals.ts';
import { giveSlotsBack } from './slots.ts';

/**
 * Takes the finalizer off: once the pods of the Workflows `after`, which were stopped, have ended, and once the Order's status shows the end
 * of one that had finished. Without that record the Order would run the artifact again.
 */
export async function finish(
  context: Context,
  wake: Wake,
  workflow: ArtifactWorkflow,
  after: readonly string[],
): Promise<void> {
  if (!(await havePodsEnded(context, wake, workflow, after))) return;
  if (await isKnown(context, workflow)) {
    await giveSlotsBack(context, workflow);
    return removeFinalizer(context, artifactWorkflows, workflow, finalizers.workflow);
  }
  const message = 'the status of its Order does not show yet how it ended';
  await waitAgain(context, wake, workflow, { reason: 'Ending', message });
}

async function isKnown(context: Context, workflow: ArtifactWorkflow): Promise<boolean> {
  const owner = ownerOfKind(workflow, 'Order');
  if (owner === undefined || !leavesRecord(workflow)) return true;
  const key = { ...namespaceOf(workflow), name: owner.name };
  // The status of an Order may take a megabyte, and all its children go with it. A child that goes for that was marked after its Order: a
  // state as new as the child shows it.
  const notOlderThan = workflow.metadata.resourceVersion;
  const about = await context.api.getMetadata(orders, { ...key, notOlderThan }, context.signal);
  if (about?.metadata.uid !== owner.uid || isDeleting(about)) return true;
  const found = await context.api.get(orders, key, context.signal);
  const order = found?.metadata.uid === owner.uid ? found : undefined;
  return isEndRecorded(workflow, order) || isOverwritten(workflow, await readRivals(context, workflow));
}
