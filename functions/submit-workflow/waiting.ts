import { recordEvent, writeStatus } from '#shared/conduit/function-kit';
import type { Context } from '#shared/conduit/runtime';
import { type ArtifactWorkflow, artifactWorkflows, type StatusPatch } from '#shared/domain';

/** Records the hold of an ArtifactWorkflow, with an Event when the reason changes. A changed position in the line is no reason for an Event. */
export async function wait(context: Context, workflow: ArtifactWorkflow, status: StatusPatch): Promise<void> {
  const written = await writeStatus(context, artifactWorkflows, workflow, status);
  const found = written && waitOf(workflow, status);
  if (found === undefined) return;
  await recordEvent(context, { ...found, regarding: workflow, type: 'Normal', component: 'submit-workflow' });
}

function waitOf({ status: before = {} }: ArtifactWorkflow, status: StatusPatch) {
  const { nextAttemptTime, waitReason, waitMessage } = status;
  if (typeof nextAttemptTime === 'string' && nextAttemptTime !== before.nextAttemptTime)
    return {
      reason: 'Retrying',
      message: `attempt ${(before.attempts ?? 1) + 1} follows at ${nextAttemptTime}`,
    } as const;
  if (!waitReason || waitReason === before.waitReason) return undefined;
  return { reason: waitReason, message: waitMessage ?? 'it waits' };
}
