import { isoSeconds } from '#shared/base/meta';
import type { ArtifactWorkflow, ArtifactWorkflowStatus } from '../kinds/artifact-workflow.ts';
import { isCancelDue } from '../lifecycle/attempts.ts';
import { hasEnded, hasFailed, isDeleting, isFinalPhase } from '../lifecycle/phases.ts';
import { longestMessage } from '../values/limits.ts';
import { brief, cut } from '../values/text.ts';

/** The observed status of an attempt; undefined removes a field. */
export type Seen = { [Field in keyof ArtifactWorkflowStatus]?: ArtifactWorkflowStatus[Field] | undefined };

export const cancelledMessage = 'cancelled';

/** Returns the end of an ArtifactWorkflow that is to be cancelled and has no Workflow (any more); undefined for every other. */
export function cancelledWithout(workflow: ArtifactWorkflow, now: Date): Seen | undefined {
  if (!isCancelDue(workflow) || isDeleting(workflow)) return undefined;
  const { status = {} } = workflow;
  const isSeen = (status.syncedAttempt ?? 1) === (status.workflowRef?.attempt ?? 1);
  // An attempt that was decided on and never seen does not inherit the fields of the attempt before.
  const rest = isSeen ? {} : { startTime: undefined, progress: undefined, results: undefined };
  // The run of a schedule stays recorded: its pod may still be ending.
  return { ...rest, ...endOf(workflow, now) };
}

/** Turns the failure of an attempt that would be retried into Cancelled, if a cancel was requested. */
export function cancelledInstead(workflow: ArtifactWorkflow, seen: Seen, now: Date): Seen {
  if (seen.phase === undefined || seen.phase === 'Cancelled' || !isFinalPhase(seen.phase)) return seen;
  const { workflowRef, attempts } = workflow.status ?? {};
  const { phase, message, completionTime, results } = seen;
  const status: ArtifactWorkflowStatus = {
    phase,
    ...(message === undefined ? {} : { message }),
    ...(completionTime === undefined ? {} : { completionTime }),
    ...(results === undefined ? {} : { results }),
    ...(attempts === undefined ? {} : { attempts }),
    ...(workflowRef === undefined ? {} : { workflowRef, syncedAttempt: workflowRef.attempt }),
  };
  const ended = { ...workflow, status };
  return isCancelDue(ended) && !isDeleting(ended) ? { ...seen, ...endOf(ended, now) } : seen;
}

function endOf(workflow: ArtifactWorkflow, now: Date): Seen {
  const { message, attempts = 1, completionTime } = workflow.status ?? {};
  const why = message === undefined ? '' : `: ${brief(message)}`;
  return {
    phase: 'Cancelled',
    message: hasFailed(workflow)
      ? cut(`${cancelledMessage} after attempt ${attempts} had failed${why}`, longestMessage)
      : cancelledMessage,
    completionTime: (hasEnded(workflow) ? completionTime : undefined) ?? isoSeconds(now.getTime()),
  };
}
