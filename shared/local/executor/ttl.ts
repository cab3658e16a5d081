import type { WorkflowSpec, WorkflowStatus } from './workflow.ts';

/** When a completed Workflow is to be deleted by its ttlStrategy, in milliseconds of the epoch; undefined: never. */
export function dueTime(
  spec: Pick<WorkflowSpec, 'ttlStrategy'>,
  status: WorkflowStatus | undefined,
): number | undefined {
  const strategy = spec.ttlStrategy;
  if (!strategy || !status?.finishedAt) return undefined;
  const own = status.phase === 'Succeeded' ? strategy.secondsAfterSuccess : strategy.secondsAfterFailure;
  const seconds = own ?? strategy.secondsAfterCompletion;
  return seconds === undefined ? undefined : Date.parse(status.finishedAt) + seconds * 1000;
}
