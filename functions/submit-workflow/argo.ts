import { ArcError } from '#shared/base/errors';
import { createOrGet, ignoreNotFound, uidOf, versionOf } from '#shared/conduit/function-kit';
import type { Context } from '#shared/conduit/runtime';
import { type CronWorkflow, cronWorkflows, type Workflow, workflows } from '#shared/domain';
import type { Kind } from '#shared/kubernetes/client';

type Argo = Workflow | CronWorkflow;
type ArgoPatch = { metadata?: object; spec?: object };

/** Returns the kind of an Argo object. */
function kindOf(object: Argo): Kind<Workflow> | Kind<CronWorkflow> {
  return isCron(object) ? cronWorkflows : workflows;
}

/** Creates the object, or reads the existing object of its name. */
export async function create(context: Context, object: Argo): Promise<Argo> {
  const { object: present } = isCron(object)
    ? await createOrGet(context, cronWorkflows, object)
    : await createOrGet(context, workflows, object);
  return present;
}

/** Merge-patches this very object; a missing object is a success. Rejects with Conflict if another object has its name now. */
export async function change({ api, signal }: Context, object: Argo, patch: ArgoPatch): Promise<void> {
  const guarded = { ...patch, metadata: { ...patch.metadata, ...uidOf(object) } };
  try {
    await ignoreNotFound(api.mergePatch<Argo>(kindOf(object), object.metadata, guarded, {}, signal));
  } catch (caught) {
    // The UID precondition failed.
    if (!ArcError.is(caught, 'Invalid')) throw caught;
    throw new ArcError(
      'Conflict',
      `cannot change ${object.kind} "${object.metadata.name}": ${caught.message}`,
    );
  }
}

/** Deletes this very object; with `unchanged`, only in the state that was read. Rejects with Conflict otherwise. */
export async function remove(
  { api, signal }: Context,
  object: Argo,
  { unchanged = false } = {},
): Promise<void> {
  const guard = { ...uidOf(object), ...(unchanged ? versionOf(object) : {}) };
  await api.delete(kindOf(object), object.metadata, guard, signal);
}

function isCron(object: Argo): object is CronWorkflow {
  return object.kind === 'CronWorkflow';
}
