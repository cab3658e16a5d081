import type { KubeObject } from '#shared/meta';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import type { Order } from '../kinds/order.ts';

/** What was seen of one watched object: both halves for a change, one for its appearance or disappearance. */
export interface Change {
  kind: string;
  before?: KubeObject | undefined;
  after?: KubeObject | undefined;
}

/** Just enough of an object to wake it. */
export type WakeObject = Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>;

/** What the bridge knows about objects it watches. `namespace` undefined means all namespaces. */
export interface WakeIndex {
  ordersUsingEndpoint(namespace: string, name: string): Iterable<WakeObject>;
  ordersUsingType(namespace: string | undefined, name: string): Iterable<WakeObject>;
  /** Those with an artifact of a type that refers to the template. */
  ordersUsingTemplate(namespace: string | undefined, name: string): Iterable<WakeObject>;
  /** Those of the namespace that wait for a person. */
  ordersWaitingIn(namespace: string): Iterable<WakeObject>;
  endpointsUsingSecret(namespace: string, name: string): Iterable<WakeObject>;
  endpointNamed(namespace: string, name: string): Endpoint | undefined;
  artifactWorkflowNamed(namespace: string, name: string): ArtifactWorkflow | undefined;
  order(uid: string): Order | undefined;
  /** The unfinished versions of one artifact (`artifactIdOf`). */
  artifactWorkflowsOfArtifact(namespace: string, id: string): Iterable<WakeObject>;
  /** The unfinished ones that write to one target (`labels.target`), of any Order. */
  artifactWorkflowsOfTarget(namespace: string, target: string): Iterable<WakeObject>;
  /** The unfinished ones that the Endpoint limits, and those of an Order; whole, because who is next depends on all of them. */
  artifactWorkflowsLimitedBy(namespace: string, endpoint: string): Iterable<ArtifactWorkflow>;
  artifactWorkflowsOfOrder(uid: string): Iterable<ArtifactWorkflow>;
  /** Those that name the Endpoint as source or destination. */
  artifactWorkflowsUsingEndpoint(namespace: string, name: string): Iterable<WakeObject>;
}
