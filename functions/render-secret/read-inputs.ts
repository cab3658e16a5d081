import { type ArtifactWorkflow, endpoints, type RenderInputs, secrets } from '#shared/domain';
import { namespaceOf } from '#shared/function-kit';
import type { Kind } from '#shared/kube';
import type { KubeObject } from '#shared/meta';
import type { Context } from '#shared/runtime';

/** Reads the Endpoints and Secrets that an ArtifactWorkflow refers to, each by name. One that does not exist is undefined. */
export async function readInputs(
  { api, signal }: Context,
  workflow: ArtifactWorkflow,
): Promise<RenderInputs> {
  const { srcRef, dstRef, srcSecretRef, dstSecretRef } = workflow.spec;
  const read = async <T extends KubeObject>(kind: Kind<T>, ref: { name: string } | undefined) =>
    ref && (await api.get(kind, { ...namespaceOf(workflow), name: ref.name }, signal));

  // Endpoints before Secrets: if a Secret is newer than its Endpoint's counter, the next version of both corrects it.
  const [source, destination] = await Promise.all([read(endpoints, srcRef), read(endpoints, dstRef)]);
  const [sourceSecret, destinationSecret, sourceCa, destinationCa] = await Promise.all([
    read(secrets, srcSecretRef),
    read(secrets, dstSecretRef),
    read(secrets, source?.spec.tls?.caSecretRef),
    read(secrets, destination?.spec.tls?.caSecretRef),
  ]);
  return { source, destination, sourceSecret, destinationSecret, sourceCa, destinationCa };
}
