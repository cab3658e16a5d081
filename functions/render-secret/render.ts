import { ArcError } from '#shared/base/errors';
import { ownerOfKind } from '#shared/base/meta';
import { isRefusal, missingRight, writeStatus } from '#shared/conduit/function-kit';
import type { Context } from '#shared/conduit/runtime';
import {
  type ArtifactWorkflow,
  artifactWorkflows,
  type Hold,
  renderConfiguration,
  type Secret,
  secrets,
} from '#shared/domain';
import { readInputs } from './read-inputs.ts';
import { reportWaiting } from './waiting.ts';

/** Creates the Secret and records its name. If that is not possible yet, reports the reason. */
export async function render(context: Context, workflow: ArtifactWorkflow): Promise<undefined> {
  const rendering = renderConfiguration(workflow, await readInputs(context, workflow));
  if ('stale' in rendering) {
    // Its Order is planned again for the same change, and creates the version that replaces this one.
    if (ownerOfKind(workflow, 'Order') !== undefined) return undefined;
    return reportWaiting(context, workflow, { reason: 'EndpointMoved', message: rendering.stale });
  }
  if ('waiting' in rendering) return reportWaiting(context, workflow, rendering.waiting);
  try {
    await create(context, rendering.secret);
  } catch (caught) {
    if (!isRefusal(caught)) throw caught;
    const message = `cannot create Secret "${rendering.secret.metadata.name}": ${caught.message}`;
    const refused: Hold = { reason: 'RenderingFailed', message };
    return reportWaiting(context, workflow, missingRight(caught, workflow) ?? refused);
  }
  return setReady(context, workflow);
}

async function create({ api, signal }: Context, secret: Secret): Promise<void> {
  try {
    await api.create(secrets, secret, signal);
  } catch (caught) {
    if (!ArcError.is(caught, 'AlreadyExists')) throw caught;
    // Another replica was faster: the next delivery checks the Secret before it is used.
    const message = `Secret "${secret.metadata.name}" has just been created by another instance`;
    throw new ArcError('Conflict', message, { cause: caught });
  }
}

/** Records that the Secret exists, which lets submit-workflow start. */
export async function setReady(context: Context, workflow: ArtifactWorkflow): Promise<undefined> {
  const configSecret = { name: workflow.metadata.name };
  const status = { configSecret, configReason: null, configMessage: null };
  await writeStatus(context, artifactWorkflows, workflow, status);
}
