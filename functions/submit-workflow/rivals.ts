import { namespaceOf } from '#shared/conduit/function-kit';
import type { Context } from '#shared/conduit/runtime';
import { type ArtifactWorkflow, artifactWorkflows, rivalSelectors } from '#shared/domain';

/** Returns the ArtifactWorkflows that must not run beside the given one; may include it. */
export async function readRivals(
  { api, signal }: Context,
  workflow: ArtifactWorkflow,
  selectors: readonly string[] = rivalSelectors(workflow),
): Promise<ArtifactWorkflow[]> {
  const lists = selectors.map((labelSelector) =>
    api.list(artifactWorkflows, { ...namespaceOf(workflow), labelSelector }, signal),
  );
  return (await Promise.all(lists)).flatMap(({ items }) => items);
}
