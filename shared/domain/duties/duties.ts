import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import type { Order } from '../kinds/order.ts';
import { artifactWorkflowDuties } from './artifact-workflow-duties.ts';
import { type Duty, isDue } from './duty.ts';
import { endpointDuties } from './endpoint-duties.ts';
import { orderDuties } from './order-duties.ts';
import type { View } from './view.ts';

/**
 * Returns what functions have to do for an object, now or later: at most one duty per step. The duties come from the decisions that the
 * functions themselves take, so an object has no duty that is due exactly when every function would do nothing.
 */
export function duties(view: View, object: Order | ArtifactWorkflow | Endpoint, now: Date): Duty[] {
  switch (object.kind) {
    case 'Order':
      return orderDuties(view, object, now);
    case 'ArtifactWorkflow':
      return artifactWorkflowDuties(view, object, now);
    case 'Endpoint':
      return endpointDuties(view, object, now);
  }
}

/** Returns true when no function has anything to do for the object now. */
export function isSettled(view: View, object: Order | ArtifactWorkflow | Endpoint, now: Date): boolean {
  return !duties(view, object, now).some((duty) => isDue(duty, now));
}
