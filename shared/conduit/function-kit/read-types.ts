import type { KubeObject } from '#shared/base/meta';
import type { Context } from '#shared/conduit/runtime';
import { type ArtifactType, artifactTypes, clusterArtifactTypes } from '#shared/domain';
import { namespaceOf } from './metadata.ts';

/** Reads the types of these names, of the object's namespace and of the cluster. Rejects with errors of the API. */
export async function readTypes(
  { api, signal }: Pick<Context, 'api' | 'signal'>,
  object: Pick<KubeObject, 'metadata'>,
  names: readonly string[],
): Promise<ArtifactType[]> {
  const found = await Promise.all(
    names.flatMap((name) => [
      api.get(artifactTypes, { ...namespaceOf(object), name }, signal),
      api.get(clusterArtifactTypes, { name }, signal),
    ]),
  );
  return found.filter((type) => type !== undefined);
}
