import type { WorkflowSpec, WorkflowStatus } from './workflow.ts';

/** Returns when a completed Workflow's ttlStrategy deletes it, in milliseconds since the epoch; undefined: never. */
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
