import { type KubeObject, ownerOfKind } from '#shared/meta';
import { artifactIdOf } from '../identity/artifact.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import { apiVersion } from '../kinds/refs.ts';
import { labels } from '../kinds/well-known.ts';
import { isDeleting } from '../lifecycle/phases.ts';
import { limitingEndpoints, nextInLine, nextOfOrder } from '../submission/slots.ts';
import type { WakeIndex, WakeObject } from './change.ts';

export const itself = (about: KubeObject): WakeObject[] => [about];
const namespaceOf = (about: KubeObject): string => about.metadata.namespace ?? '';

export const ordersOfEndpoint = (about: KubeObject, index: WakeIndex) =>
  index.ordersUsingEndpoint(namespaceOf(about), about.metadata.name);

export const workflowsOfEndpoint = (about: KubeObject, index: WakeIndex) =>
  index.artifactWorkflowsUsingEndpoint(namespaceOf(about), about.metadata.name);

export const endpointsOfSecret = (about: KubeObject, index: WakeIndex) =>
  index.endpointsUsingSecret(namespaceOf(about), about.metadata.name);

/** Other versions of the same artifact, and others that write to the same place. */
export function* rivals(about: KubeObject, index: WakeIndex): Iterable<WakeObject> {
  const id = artifactIdOf(about);
  const target = about.metadata.labels?.[labels.target];
  const found = [
    ...(id === undefined ? [] : index.artifactWorkflowsOfArtifact(namespaceOf(about), id)),
    ...(target === undefined ? [] : index.artifactWorkflowsOfTarget(namespaceOf(about), target)),
  ];
  for (const one of found) if (one.metadata.name !== about.metadata.name) yield one;
}

/** Those that may start where an Endpoint limits how many do. */
export function nextUnderLimit(about: KubeObject, index: WakeIndex): Iterable<WakeObject> {
  const users = [...index.artifactWorkflowsLimitedBy(namespaceOf(about), about.metadata.name)];
  return nextInLine(about as unknown as Endpoint, users);
}

export function nextSiblings(about: KubeObject, index: WakeIndex): Iterable<WakeObject> {
  if ((about as unknown as ArtifactWorkflow).spec.parallelism === undefined) return [];
  return nextOfOrder([...index.artifactWorkflowsOfOrder(ownerOfKind(about, 'Order')?.uid ?? '')]);
}

/** Those that may start in the place of one that cannot: of its Order, and under the limits of its Endpoints. */
export function* nextInPlaceOf(about: KubeObject, index: WakeIndex): Iterable<WakeObject> {
  yield* nextSiblings(about, index);
  for (const name of limitingEndpoints(about as unknown as ArtifactWorkflow)) {
    const endpoint = index.endpointNamed(namespaceOf(about), name);
    if (endpoint?.spec.maxInFlight !== undefined)
      yield* nextUnderLimit(endpoint as unknown as KubeObject, index);
  }
}

/**
 * The ArtifactWorkflow of an Argo object: its owner, or for the run of a CronWorkflow the one its label names. Where the owner has gone, the
 * one that was made again under its name: it waits until what its predecessor has left is removed.
 */
export function artifactWorkflowOf(about: KubeObject, index: WakeIndex): WakeObject[] {
  const owner = ownerAsTarget(about, 'ArtifactWorkflow');
  const named = owner[0]?.metadata.name ?? about.metadata.labels?.[labels.artifactWorkflow];
  const known = named === undefined ? undefined : index.artifactWorkflowNamed(namespaceOf(about), named);
  // As it is known it shows its Order, which its Secret does not.
  return known === undefined ? owner : [known];
}

/** The owner of an object as something to wake; it may be gone, which the function that is woken will see. */
export function ownerAsTarget(object: WakeObject, kind: string): WakeObject[] {
  const owner = ownerOfKind(object, kind);
  if (!owner) return [];
  const { namespace, labels: ownLabels } = object.metadata;
  return [
    {
      apiVersion,
      kind,
      metadata: {
        name: owner.name,
        uid: owner.uid,
        ...(namespace === undefined ? {} : { namespace }),
        ...(ownLabels === undefined ? {} : { labels: ownLabels }),
      },
    },
  ];
}

/**
 * The Order of an ArtifactWorkflow that has gone. One that is being deleted has to know only of the last: each look of its functions reads
 * all that are left.
 */
export function orderOfLast(about: KubeObject, index: WakeIndex): WakeObject[] {
  const [order] = ownerAsTarget(about, 'Order');
  if (order === undefined) return [];
  const { uid = '' } = order.metadata;
  const seen = index.order(uid);
  if (seen === undefined || !isDeleting(seen)) return [order];
  for (const other of index.artifactWorkflowsOfOrder(uid))
    if (other.metadata.uid !== about.metadata.uid) return [];
  return [order];
}

/** Whether `holds` for an ArtifactWorkflow as it was last seen; undefined for one that was not seen. */
export function known(
  { metadata }: WakeObject,
  index: WakeIndex,
  holds: (workflow: ArtifactWorkflow) => boolean,
): boolean | undefined {
  const found = index.artifactWorkflowNamed(metadata.namespace ?? '', metadata.name);
  return found?.metadata.uid === metadata.uid ? found && holds(found) : undefined;
}
