import {
  type ArtifactWorkflow,
  type Endpoint,
  endpoints,
  type RenderInputs,
  type Secret,
  secrets,
} from '#shared/domain';
import type { Context } from '#shared/runtime';

/** Reads the Endpoints and Secrets that an ArtifactWorkflow refers to, each by name. What does not exist is absent. */
export async function readInputs(context: Context, workflow: ArtifactWorkflow): Promise<RenderInputs> {
  const { srcRef, dstRef, srcSecretRef, dstSecretRef } = workflow.spec;
  const endpoint = (name: string | undefined): Promise<Endpoint | undefined> =>
    name === undefined
      ? Promise.resolve(undefined)
      : context.api.get(endpoints, { ...namespaceOf(workflow), name }, context.signal);
  const secret = (name: string | undefined): Promise<Secret | undefined> =>
    name === undefined
      ? Promise.resolve(undefined)
      : context.api.get(secrets, { ...namespaceOf(workflow), name }, context.signal);

  // Secrets after Endpoints: a Secret that is newer than its Endpoint's counter is caught by the next version of both.
  const [source, destination] = await Promise.all([endpoint(srcRef?.name), endpoint(dstRef?.name)]);
  const [sourceSecret, destinationSecret, sourceCa, destinationCa] = await Promise.all([
    secret(srcSecretRef?.name),
    secret(dstSecretRef?.name),
    secret(source?.spec.tls?.caSecretRef?.name),
    secret(destination?.spec.tls?.caSecretRef?.name),
  ]);
  return { source, destination, sourceSecret, destinationSecret, sourceCa, destinationCa };
}

function namespaceOf({ metadata }: ArtifactWorkflow): { namespace?: string } {
  return metadata.namespace === undefined ? {} : { namespace: metadata.namespace };
}
