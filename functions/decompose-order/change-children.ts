import { eachBounded } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { ignoreNotFound, recordEvent, uidOf, versionOf } from '#shared/conduit/function-kit';
import type { Context } from '#shared/conduit/runtime';
import { artifactWorkflows, type ChildDecision, labels } from '#shared/domain';

const parallel = 16;

/** Deletes the ArtifactWorkflows that have to stop and those that are history. Rejects with the first failure, after trying all. */
export async function retireChildren(
  { api, signal }: Context,
  { stop, remove }: Pick<ChildDecision, 'stop' | 'remove'>,
): Promise<void> {
  const stopping = stop.map((workflow) => ({ workflow, preconditions: uidOf(workflow) }));
  // A finished one may have been asked to run again since it was read: the resourceVersion shows that.
  const removing = remove.map((workflow) => ({
    workflow,
    preconditions: { ...uidOf(workflow), ...versionOf(workflow) },
  }));
  await all([...stopping, ...removing], async ({ workflow, preconditions }) => {
    await api.delete(artifactWorkflows, workflow.metadata, preconditions, signal);
  });
}

/**
 * Tells versions of artifacts that a later one is in force, each once: those that stay have a label afterwards, the others are being deleted.
 * Rejects with the first failure, after trying all.
 */
export async function supersedeChildren(
  context: Context,
  superseded: ChildDecision['superseded'],
): Promise<void> {
  await all(superseded, async ({ workflow, revision, stays }) => {
    const metadata = { ...versionOf(workflow), labels: { [labels.superseded]: 'true' } };
    if (stays)
      await ignoreNotFound(
        context.api.mergePatch(artifactWorkflows, workflow.metadata, { metadata }, {}, context.signal),
      );
    const message = `revision ${revision} of its artifact is in force`;
    const component = 'decompose-order';
    await recordEvent(context, {
      regarding: workflow,
      type: 'Normal',
      reason: 'Superseded',
      message,
      component,
    });
  });
}

/** Brings the policy of ArtifactWorkflows into step with their Order. Rejects with the first failure, after trying all. */
export async function patchChildren(
  { api, signal }: Context,
  patches: ChildDecision['patches'],
): Promise<void> {
  await all(patches, async ({ workflow, patch }) => {
    const guarded = { ...patch, metadata: { ...patch.metadata, ...versionOf(workflow) } };
    await ignoreNotFound(api.mergePatch(artifactWorkflows, workflow.metadata, guarded, {}, signal));
  });
}

async function all<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const [first] = await eachBounded(items, parallel, work);
  if (first !== undefined) throw ArcError.from(first.error);
}
