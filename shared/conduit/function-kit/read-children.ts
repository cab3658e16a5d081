import { isOwnedBy } from '#shared/base/meta';
import type { Context } from '#shared/conduit/runtime';
import { type ArtifactWorkflow, artifactWorkflows, childSelector, type Order } from '#shared/domain';
import { namespaceOf } from './metadata.ts';

/** Reads the ArtifactWorkflows that an Order owns. Anybody can write the label that selects them; the owner reference decides. */
export async function readChildren(
  { api, signal }: Pick<Context, 'api' | 'signal'>,
  order: Pick<Order, 'metadata'>,
): Promise<ArtifactWorkflow[]> {
  const labelSelector = childSelector(order);
  const { items } = await api.list(artifactWorkflows, { ...namespaceOf(order), labelSelector }, signal);
  return items.filter((workflow) => isOwnedBy(workflow, order));
}
