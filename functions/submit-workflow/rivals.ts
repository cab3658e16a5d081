import { namespaceOf } from '#shared/conduit/function-kit';
import type { Context } from '#shared/conduit/runtime';
import { type ArtifactWorkflow, artifactWorkflows, rivalSelectors } from '#shared/domain';

/** The ArtifactWorkflows that must not run beside the given one; it may be among them. */
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
