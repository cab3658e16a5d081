import { isDeepStrictEqual } from 'node:util';
import { type ArtifactWorkflow, type ArtifactWorkflowStatus, artifactWorkflows } from '#shared/domain';
import { patchStatus } from '#shared/kube';
import type { Context } from '#shared/runtime';

type Patch = { [Field in keyof ArtifactWorkflowStatus]?: ArtifactWorkflowStatus[Field] | null };

/** Writes fields of the status; nothing when they are as wanted already. Resolves with false when the ArtifactWorkflow is gone. */
export async function writeStatus(
  { api, signal }: Context,
  workflow: ArtifactWorkflow,
  status: Patch,
): Promise<boolean> {
  const before: Record<string, unknown> = { ...workflow.status };
  const same = Object.entries(status).every(([field, value]) =>
    isDeepStrictEqual(before[field] ?? null, value),
  );
  if (same) return true;
  return (await patchStatus(api, artifactWorkflows, workflow, status, signal)) !== undefined;
}
