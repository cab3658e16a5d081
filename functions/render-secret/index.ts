/** render-secret: an ArtifactWorkflow -> the Secret that configures its transfer (docs/decisions/0009-one-rendered-secret.md). */

import { ArcError } from '#shared/base/errors';
import { isOwnedBy, ownerOfKind } from '#shared/base/meta';
import { missingRight, readArtifactWorkflow, uidOf, writeStatus } from '#shared/conduit/function-kit';
import type { Context, StepEvent } from '#shared/conduit/runtime';
import {
  type ArtifactWorkflow,
  artifactWorkflows,
  configurationRemoved,
  isDeleting,
  needsConfiguration,
  secrets,
} from '#shared/domain';
import { render, setReady } from './render.ts';
import { reportWaiting } from './waiting.ts';

/** Renders the Secret, or removes it once the ArtifactWorkflow has ended. Rejects with transient errors, for the broker to retry. */
export async function handle(context: Context, event: StepEvent): Promise<undefined> {
  const workflow = await readArtifactWorkflow(context, event);
  // The garbage collector removes the Secret with its owner.
  if (workflow === undefined || isDeleting(workflow)) return undefined;
  if (!needsConfiguration(workflow)) return remove(context, workflow);
  try {
    return await configure(context, workflow);
  } catch (caught) {
    const hold = missingRight(caught, workflow);
    if (hold === undefined) throw caught;
    return reportWaiting(context, workflow, hold);
  }
}

async function configure(context: Context, workflow: ArtifactWorkflow): Promise<undefined> {
  const { api, signal } = context;
  const present = await api.get(secrets, workflow.metadata, signal);
  if (present === undefined) return render(context, workflow);
  if (isOwnedBy(present, workflow)) return setReady(context, workflow);

  const { name } = workflow.metadata;
  // No event reports the deletion of a Secret, so the broker retries until the garbage collector has removed it.
  if (ownerOfKind(present, workflow.kind)?.name === name)
    throw new ArcError('Conflict', `Secret "${name}" of an earlier ArtifactWorkflow "${name}" still exists`);
  const message = `Secret "${name}" exists and has another owner; delete it`;
  return reportWaiting(context, workflow, { reason: 'NameTaken', message });
}

async function remove(context: Context, workflow: ArtifactWorkflow): Promise<undefined> {
  const { api, signal } = context;
  // The Secret may exist although the status does not name it: a replica may have crashed between creating the Secret and writing the status.
  const present = await api.get(secrets, workflow.metadata, signal);
  if (present !== undefined && isOwnedBy(present, workflow)) {
    await api.delete(secrets, present.metadata, uidOf(present), signal);
  }
  // Guarded: if a new attempt was requested meanwhile, the next event finds no Secret and renders it again.
  const { phase } = workflow.status ?? {};
  const mark = phase === 'Cancelled' ? { configReason: configurationRemoved } : {};
  await writeStatus(context, artifactWorkflows, workflow, { configSecret: null, ...mark });
}
