import { eachBounded } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { ignoreNotFound, recordEvent, uidOf, versionOf } from '#shared/conduit/function-kit';
import type { Context } from '#shared/conduit/runtime';
import { artifactWorkflows, type ChildDecision, labels } from '#shared/domain';

const parallel = 16;

/** Deletes the ArtifactWorkflows to stop and those beyond the history limit. Rejects with the first failure, after trying all. */
export async function retireChildren(
  { api, signal }: Context,
  { stop, remove }: Pick<ChildDecision, 'stop' | 'remove'>,
): Promise<void> {
  const stopping = stop.map((workflow) => ({ workflow, preconditions: uidOf(workflow) }));
  // A rerun of a finished ArtifactWorkflow may have been requested since it was read: the resourceVersion shows that.
  const removing = remove.map((workflow) => ({
    workflow,
    preconditions: { ...uidOf(workflow), ...versionOf(workflow) },
  }));
  await all([...stopping, ...removing], async ({ workflow, preconditions }) => {
    await api.delete(artifactWorkflows, workflow.metadata, preconditions, signal);
  });
}

/**
 * Announces to each superseded version, once, that a later version is in force: versions that stay are labelled, the others are being deleted.
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

/** Makes the policy of ArtifactWorkflows follow their Order. Rejects with the first failure, after trying all. */
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
