import type { Order } from '#shared/domain';

const runsAgain = ['Failed', 'Error', 'Cancelled', 'Stopped'];
const isOver = (phase: string) => ['Succeeded', 'Invalid', ...runsAgain].includes(phase);

/** Returns the names of the actions that are possible on an Order now; `phases` are those of its artifacts. */
export function offeredForOrder({ spec }: Pick<Order, 'spec'>, phases: readonly string[]): string[] {
  const isStopped = spec.cancel === true;
  const isHeld = isStopped || spec.suspend === true;
  return [
    ...(!isHeld && phases.some((phase) => runsAgain.includes(phase)) ? ['retry'] : []),
    ...(isHeld ? ['resume'] : []),
    ...(!isHeld && phases.length > 0 ? ['force'] : []),
    ...(!isHeld && phases.some((phase) => !isOver(phase)) ? ['suspend'] : []),
    ...(!isStopped && phases.some((phase) => !isOver(phase)) ? ['cancel'] : []),
  ];
}

/** Returns the actions that are possible on an artifact now; none without an ArtifactWorkflow. */
export function offeredForArtifact(
  { spec }: Pick<Order, 'spec'>,
  phase: string,
  hasWorkflow: boolean,
): string[] {
  if (!hasWorkflow || spec.cancel === true) return [];
  if (runsAgain.includes(phase)) return spec.suspend === true ? [] : ['retry'];
  return isOver(phase) ? [] : ['cancel'];
}
