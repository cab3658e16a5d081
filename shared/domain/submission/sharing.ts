import { ownerOfKind } from '#shared/base/meta';
import { compareAge } from '../identity/artifact.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import { phaseOf } from '../lifecycle/phases.ts';

/**
 * Returns the newest ArtifactWorkflow of another Order that has written to the place where `workflow` writes for the first time: its result is
 * overwritten. `rivals` write to that place, or are versions of the same artifact.
 */
export function overwrittenBy(
  workflow: ArtifactWorkflow,
  rivals: readonly ArtifactWorkflow[],
): ArtifactWorkflow | undefined {
  if (workflow.status?.workflowRef !== undefined) return undefined;
  const own = ownerOfKind(workflow, 'Order')?.uid;
  const others = rivals.filter((rival) => {
    const order = ownerOfKind(rival, 'Order');
    return order !== undefined && order.uid !== own && hasArrived(rival);
  });
  return others.sort(compareAge).at(-1);
}

function hasArrived(workflow: ArtifactWorkflow): boolean {
  return phaseOf(workflow) === 'Succeeded' || (workflow.status?.succeeded ?? 0) > 0;
}
