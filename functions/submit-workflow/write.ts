import { isDeepStrictEqual } from 'node:util';
import { type ArtifactWorkflow, type ArtifactWorkflowStatus, artifactWorkflows } from '#shared/domain';
import type { Context } from '#shared/runtime';

type Patch = { [Field in keyof ArtifactWorkflowStatus]?: ArtifactWorkflowStatus[Field] | null };

/** Writes fields of the status, guarded by the resourceVersion that was read; nothing when they are as wanted already. */
export async function patchStatus(
  { api, signal }: Context,
  workflow: ArtifactWorkflow,
  status: Patch,
): Promise<void> {
  const before: Record<string, unknown> = { ...workflow.status };
  const same = Object.entries(status).every(([field, value]) =>
    isDeepStrictEqual(before[field] ?? null, value),
  );
  if (same) return;
  const { resourceVersion } = workflow.metadata;
  const patch = { metadata: { resourceVersion }, status };
  await api.mergePatch(artifactWorkflows, workflow.metadata, patch, { subresource: 'status' }, signal);
}
