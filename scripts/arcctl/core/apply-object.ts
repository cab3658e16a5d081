import { ArcError } from '#shared/base/errors';
import { isRecord, type KubeObject } from '#shared/base/meta';
import { type Kind, objectPath, query } from '#shared/kubernetes/client';
import type { Io } from './io.ts';
import type { Cluster } from './session.ts';

/** Applies an object server-side, like `kubectl apply --server-side`. Resolves with the stored object, or the result of the dry run. */
export async function applyObject(
  io: Io,
  cluster: Pick<Cluster, 'transport' | 'namespace'>,
  object: KubeObject,
  dryRun: boolean,
): Promise<KubeObject> {
  const kind = await kindOfObject(io, cluster, object);
  const namespace = object.metadata.namespace ?? cluster.namespace;
  const metadata = { ...object.metadata, ...(kind.namespaced && { namespace }) };
  const key = { name: metadata.name, ...(kind.namespaced && { namespace }) };
  const options = query({ fieldManager: 'arcctl', force: true, dryRun: dryRun ? 'All' : undefined });
  const answer = await cluster.transport.send(
    {
      method: 'PATCH',
      path: `${objectPath(kind, key)}${options}`,
      body: { ...object, metadata },
      contentType: 'application/apply-patch+yaml',
    },
    io.signal,
  );
  if (isRecord(answer) && isRecord(answer.metadata)) return answer as KubeObject;
  throw new ArcError('InternalError', 'the response of the server is not an object');
}

/** Returns the kind of an object, as the cluster serves it. Rejects with NotFound if the cluster does not serve it. */
async function kindOfObject(
  io: Io,
  { transport }: Pick<Cluster, 'transport'>,
  { apiVersion, kind }: KubeObject,
): Promise<Kind> {
  const root = apiVersion.includes('/') ? '/apis' : '/api';
  const found = await transport.send({ method: 'GET', path: `${root}/${apiVersion}` }, io.signal);
  const resources = isRecord(found) && Array.isArray(found.resources) ? found.resources.filter(isRecord) : [];
  const resource = resources.find(
    ({ kind: name, name: plural }) => name === kind && !String(plural).includes('/'),
  );
  if (resource)
    return { apiVersion, kind, plural: String(resource.name), namespaced: resource.namespaced === true };
  throw new ArcError('NotFound', `this cluster does not serve kind ${kind} of ${apiVersion}`, {
    details: { name: kind },
  });
}
