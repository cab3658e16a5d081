/** render-secret: an ArtifactWorkflow -> the Secret that configures its transfer, while it has a use for one. */
import type { CloudEvent } from 'cloudevents';
import {
  type ArtifactWorkflow,
  artifactWorkflows,
  isDeleting,
  isOwnedBy,
  needsConfiguration,
  ownerOfKind,
  renderConfiguration,
  type Secret,
  secrets,
} from '#shared/domain';
import { ArcError } from '#shared/errors';
import { wakeEvent } from '#shared/events';
import { emitEvent, patchStatus } from '#shared/kube';
import type { Context, Wake } from '#shared/runtime';
import { readInputs } from './read-inputs.ts';

const component = 'render-secret';
/** Answers that only a person can change (a quota, a policy, a namespace that is going): they are told, and the resync tries again. */
const refusals = ['Invalid', 'Forbidden', 'BadRequest', 'NotFound', 'RequestEntityTooLarge'] as const;

/**
 * Renders the Secret, or removes it once the ArtifactWorkflow has ended. Replies with a wake of the Order when an Endpoint is
 * not in the state that the ArtifactWorkflow was made for. Rejects with what the broker is to retry.
 */
export async function handle(context: Context, wake: Wake): Promise<CloudEvent<unknown> | undefined> {
  const { api, signal } = context;
  const workflow = await api.get(artifactWorkflows, { namespace: wake.namespace, name: wake.name }, signal);
  // What is being deleted takes its Secret along: it owns it.
  if (workflow === undefined || isDeleting(workflow)) return undefined;
  if (!needsConfiguration(workflow)) return remove(context, workflow);
  const present = await api.get(secrets, workflow.metadata, signal);
  if (present === undefined) return render(context, wake, workflow);
  if (isOwnedBy(present, workflow)) return pointTo(context, workflow);
  const { name } = present.metadata;
  // Nobody tells when a Secret goes, so this is tried again until the garbage collector has been there.
  if (ownerOfKind(present, workflow.kind)?.name === workflow.metadata.name)
    throw new ArcError(
      'Conflict',
      `Secret "${name}" of a former ArtifactWorkflow of this name is still there`,
    );
  const message = `Secret "${name}" exists and belongs to somebody else; delete or rename it`;
  return wait(context, wake, workflow, 'NameTaken', message);
}

async function render(
  context: Context,
  wake: Wake,
  workflow: ArtifactWorkflow,
): Promise<CloudEvent<unknown> | undefined> {
  const rendering = renderConfiguration(workflow, await readInputs(context, workflow));
  if ('stale' in rendering) return staleReply(context, wake, workflow, rendering.stale);
  if ('waiting' in rendering) return wait(context, wake, workflow, 'ConfigurationMissing', rendering.waiting);
  try {
    await create(context, rendering.secret);
  } catch (caught) {
    if (!ArcError.is(caught, ...refusals)) throw caught;
    const message = `cannot create Secret "${rendering.secret.metadata.name}": ${caught.message}`;
    return wait(context, wake, workflow, 'RenderingFailed', message);
  }
  return pointTo(context, workflow);
}

async function create({ api, signal }: Context, secret: Secret): Promise<void> {
  try {
    await api.create(secrets, secret, signal);
  } catch (caught) {
    if (!ArcError.is(caught, 'AlreadyExists')) throw caught;
    // Somebody was faster since we looked: look again before it is used.
    throw new ArcError('Conflict', `Secret "${secret.metadata.name}" has just been created`, {
      cause: caught,
    });
  }
}

async function pointTo({ api, signal }: Context, workflow: ArtifactWorkflow): Promise<undefined> {
  const { name } = workflow.metadata;
  const { configSecret, configMessage } = workflow.status ?? {};
  if (configSecret?.name === name && configMessage === undefined) return;
  const solved = configMessage === undefined ? {} : { configMessage: null };
  await patchStatus(api, artifactWorkflows, workflow, { configSecret: { name }, ...solved }, signal);
}

async function remove({ api, signal }: Context, workflow: ArtifactWorkflow): Promise<undefined> {
  // Also where the status knows of none: who rendered it may have been too late to say so.
  const present = await api.get(secrets, workflow.metadata, signal);
  if (present !== undefined && isOwnedBy(present, workflow)) {
    const { uid } = present.metadata;
    await api.delete(secrets, present.metadata, uid === undefined ? {} : { uid }, signal);
  }
  if (workflow.status?.configSecret === undefined) return;
  // Guarded: if a new attempt was asked for meanwhile, the next look finds no Secret and renders it again.
  await patchStatus(api, artifactWorkflows, workflow, { configSecret: null }, signal);
}

async function staleReply(
  context: Context,
  wake: Wake,
  workflow: ArtifactWorkflow,
  message: string,
): Promise<CloudEvent<unknown> | undefined> {
  const order = ownerOfKind(workflow, 'Order');
  if (order === undefined) return wait(context, wake, workflow, 'Stale', message);
  const { namespace = '', name, uid = '', resourceVersion = '' } = workflow.metadata;
  return wakeEvent({
    target: { apiVersion: order.apiVersion, kind: order.kind, namespace, name: order.name, uid: order.uid },
    watched: { apiVersion: workflow.apiVersion, kind: workflow.kind, namespace, name, uid, resourceVersion },
    reason: 'inputs',
    partitionKey: order.uid,
    trace: context.trace,
    time: context.now,
  });
}

/** Somebody has to act: the status says why, until there is a configuration. */
async function wait(
  context: Context,
  wake: Wake,
  workflow: ArtifactWorkflow,
  reason: string,
  message: string,
): Promise<undefined> {
  const { api, signal } = context;
  if (workflow.status?.configMessage !== message) {
    const written = await patchStatus(api, artifactWorkflows, workflow, { configMessage: message }, signal);
    if (!written) return undefined;
  }
  return warn(context, wake, workflow, reason, message);
}

/** Told once per cause: a resync that finds the same again says nothing. */
async function warn(
  { api, log, now, signal }: Context,
  wake: Wake,
  workflow: ArtifactWorkflow,
  reason: string,
  message: string,
): Promise<undefined> {
  if (wake.reason === 'resync') return;
  try {
    await emitEvent(api, { regarding: workflow, type: 'Warning', reason, message, component, now }, signal);
  } catch (caught) {
    log.warn({ err: ArcError.from(caught) }, 'the Event could not be recorded');
  }
}
