import type { CloudEvent } from 'cloudevents';
import { type ArtifactWorkflow, artifactWorkflows, type Hold } from '#shared/domain';
import { printableLines } from '#shared/errors';
import { wakeEvent } from '#shared/events';
import { recordWarning, writeStatus } from '#shared/function-kit';
import { ownerOfKind } from '#shared/meta';
import type { Context, Wake } from '#shared/runtime';

/** A wake of the Order, which makes a new version of the ArtifactWorkflow; undefined when no Order owns it. */
export function orderWake(
  { trace, now }: Context,
  workflow: ArtifactWorkflow,
): CloudEvent<unknown> | undefined {
  const order = ownerOfKind(workflow, 'Order');
  if (order === undefined) return undefined;
  const { namespace = '', name, uid = '', resourceVersion = '' } = workflow.metadata;
  return wakeEvent({
    target: { apiVersion: order.apiVersion, kind: order.kind, namespace, name: order.name, uid: order.uid },
    watched: { apiVersion: workflow.apiVersion, kind: workflow.kind, namespace, name, uid, resourceVersion },
    reason: 'inputs',
    partitionKey: order.uid,
    trace,
    time: now,
  });
}

/** Writes to the status what a person has to change, and records it as a Warning. */
export async function reportWaiting(
  context: Context,
  wake: Wake,
  workflow: ArtifactWorkflow,
  { reason, message }: Hold,
): Promise<undefined> {
  const written = await writeStatus(context, artifactWorkflows, workflow, {
    configReason: reason,
    configMessage: printableLines(message),
  });
  if (written === undefined) return;
  await recordWarning(context, wake, { regarding: workflow, reason, message, component: 'render-secret' });
}
