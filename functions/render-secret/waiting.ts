import { printableLines } from '#shared/base/errors';
import { recordEvent, writeStatus } from '#shared/conduit/function-kit';
import type { Context } from '#shared/conduit/runtime';
import { type ArtifactWorkflow, artifactWorkflows, type Hold } from '#shared/domain';

/** Writes to the status what a person has to change, and records a Warning when that has changed. */
export async function reportWaiting(
  context: Context,
  workflow: ArtifactWorkflow,
  { reason, message }: Hold,
): Promise<undefined> {
  const written = await writeStatus(context, artifactWorkflows, workflow, {
    configReason: reason,
    configMessage: printableLines(message),
  });
  if (written === undefined || written === workflow) return;
  const component = 'render-secret';
  await recordEvent(context, { regarding: workflow, type: 'Warning', reason, message, component });
}
