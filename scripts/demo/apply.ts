import { ArcError } from '#shared/base/errors';
import type { KubeObject } from '#shared/base/meta';
import {
  clusterArtifactTypes,
  clusterWorkflowTemplates,
  endpoints,
  namespaces,
  orders,
  secrets,
} from '#shared/domain';
import type { Kind, KubeClient } from '#shared/kubernetes/client';

const kinds: readonly Kind[] = [
  clusterArtifactTypes,
  clusterWorkflowTemplates,
  endpoints,
  namespaces,
  orders,
  secrets,
];

/** Creates the object of a manifest through the API, like `kubectl create`. */
export async function apply(api: KubeClient, object: KubeObject, signal: AbortSignal): Promise<KubeObject> {
  const kind = kinds.find(
    ({ kind: name, apiVersion }) => name === object.kind && apiVersion === object.apiVersion,
  );
  if (!kind) throw new ArcError('BadRequest', `no kind ${object.apiVersion} ${object.kind} is known here`);
  return api.create(kind, object, signal);
}
