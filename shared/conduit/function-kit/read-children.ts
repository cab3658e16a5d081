import { isOwnedBy } from '#shared/base/meta';
import type { Context } from '#shared/conduit/runtime';
import { type ArtifactWorkflow, artifactWorkflows, childSelector, type Order } from '#shared/domain';
import { namespaceOf } from './metadata.ts';

/**
 * Bytes of ArtifactWorkflows that one event may read, of 512 MiB that users may store in a namespace: enough for 25,000 usual ones. Parsed, they
 * take 2.5 times as much memory.
 */
export const listBytes = 96 * 1024 * 1024;

/** Reads the ArtifactWorkflows that an Order owns. Anybody can write the label that selects them; the owner reference decides. */
export async function readChildren(
  { api, signal }: Pick<Context, 'api' | 'signal'>,
  order: Pick<Order, 'metadata'>,
): Promise<ArtifactWorkflow[]> {
  const labelSelector = childSelector(order);
  const selection = { ...namespaceOf(order), labelSelector, maxBytes: listBytes };
  const { items } = await api.list(artifactWorkflows, selection, signal);
  return items.filter((workflow) => isOwnedBy(workflow, order));
}
