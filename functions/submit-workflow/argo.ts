import { ArcError } from '#shared/base/errors';
import { createOrGet, ignoreNotFound, uidOf, versionOf } from '#shared/conduit/function-kit';
import type { Context } from '#shared/conduit/runtime';
import { type CronWorkflow, cronWorkflows, type Workflow, workflows } from '#shared/domain';
import type { Kind } from '#shared/kubernetes/client';

type Argo = Workflow | CronWorkflow;
type ArgoPatch = { metadata?: object; spec?: object };

function kindOf({ kind }: Argo): Kind<Argo> {
  return kind === 'CronWorkflow' ? cronWorkflows : workflows;
}

/** Creates the object, or reads the existing object of its name. */
export async function create(context: Context, object: Argo): Promise<Argo> {
  return (await createOrGet<Argo>(context, kindOf(object), object)).object;
}

/** Merge-patches this very object; a missing object is a success. Rejects with Conflict if another object has its name now. */
export async function change({ api, signal }: Context, object: Argo, patch: ArgoPatch): Promise<void> {
  const guarded = { ...patch, metadata: { ...patch.metadata, ...uidOf(object) } };
  try {
    await ignoreNotFound(api.mergePatch(kindOf(object), object.metadata, guarded, {}, signal));
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
