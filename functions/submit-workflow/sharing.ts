import { type KubeObject, ownerOfKind } from '#shared/base/meta';
import { namespaceOf, recordEvent } from '#shared/conduit/function-kit';
import type { Context } from '#shared/conduit/runtime';
import type { ArtifactWorkflow } from '#shared/domain';

/** Records that two Orders write to one place: on the starting ArtifactWorkflow, and on the Order whose result it overwrites. */
export async function announceSharing(
  context: Context,
  workflow: ArtifactWorkflow,
  overwritten: ArtifactWorkflow,
): Promise<void> {
  const note = { type: 'Normal', reason: 'TargetShared', component: 'submit-workflow' } as const;
  const message = `writes to the same place as ${titleOf(overwritten)}, which had succeeded: what is there is overwritten`;
  await recordEvent(context, { ...note, regarding: workflow, message });
  const other = orderOf(overwritten);
  const told = `${titleOf(workflow)} overwrites what ArtifactWorkflow "${overwritten.metadata.name}" has put in place`;
  if (other !== undefined) await recordEvent(context, { ...note, regarding: other, message: told });
}

function titleOf(workflow: ArtifactWorkflow): string {
  const order = ownerOfKind(workflow, 'Order');
  const title = `ArtifactWorkflow "${workflow.metadata.name}"`;
  return order === undefined ? title : `${title} of Order "${order.name}"`;
}

/** Returns the owning Order, reconstructed from the owner reference. */
function orderOf(workflow: ArtifactWorkflow): KubeObject | undefined {
  const order = ownerOfKind(workflow, 'Order');
  if (order === undefined) return undefined;
  const { apiVersion, kind, name, uid } = order;
  return { apiVersion, kind, metadata: { ...namespaceOf(workflow), name, uid } };
}
