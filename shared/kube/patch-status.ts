import type { Kind, KubeClient, Resource } from './client.ts';
import { isGone } from './gone.ts';

/**
 * Writes fields of an object's status, null to remove one, guarded by the resourceVersion of `object`. Resolves with the object as
 * it is now, or undefined when it is gone and nothing is left to write to. Rejects with Conflict when somebody else was
 * faster, and with NotFound when the server does not know the kind.
 */
export async function patchStatus<T extends Resource>(
  api: KubeClient,
  kind: Kind<T>,
  object: T,
  status: object,
  signal?: AbortSignal,
): Promise<T | undefined> {
  const { resourceVersion } = object.metadata;
  const patch = { metadata: { resourceVersion }, status };
  try {
    return await api.mergePatch(kind, object.metadata, patch, { subresource: 'status' }, signal);
  } catch (caught) {
    if (isGone(caught)) return undefined;
    throw caught;
  }
}
