import { type ArtifactWorkflow, artifactWorkflows, type Hold, stopBegan } from '#shared/domain';
import { ArcError } from '#shared/errors';
import { writeStatus } from '#shared/function-kit';
import { isoSeconds } from '#shared/meta';
import type { Context, Wake } from '#shared/runtime';

/**
 * Waits for what no change announces, and says so in the status. Rejects with Conflict, so that the broker asks again, at first soon; but
 * not for a wake that comes again by itself.
 */
export async function waitAgain(
  context: Context,
  wake: Wake,
  workflow: ArtifactWorkflow,
  { reason, message }: Hold,
): Promise<void> {
  const stopSince = isoSeconds(stopBegan(workflow, context.now));
  await writeStatus(context, artifactWorkflows, workflow, {
    waitReason: reason,
    waitMessage: message,
    stopSince,
  });
  if (wake.reason !== 'resync' && wake.reason !== 'due')
    throw new ArcError('Conflict', `ArtifactWorkflow "${workflow.metadata.name}" waits: ${message}`);
}
