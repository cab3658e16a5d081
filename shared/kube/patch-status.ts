import type { Kind, KubeClient, Resource } from './client.ts';
import { isGone } from './gone.ts';

/**
 * Writes fields of an object's status, null to remove one, guarded by the resourceVersion of `object`. Resolves with false when the
 * object is gone, so that nothing is left to write to. Rejects with Conflict when somebody else was faster, and with NotFound when
 * the server does not know the kind.
 */
export async function patchStatus<T extends Resource>(
  api: KubeClient,
  kind: Kind<T>,
  object: T,
  status: object,
  signal?: AbortSignal,
): Promise<boolean> {
  const { resourceVersion } = object.metadata;
  const patch = { metadata: { resourceVersion }, status };
  try {
    await api.mergePatch(kind, object.metadata, patch, { subresource: 'status' }, signal);
    return true;
  } catch (caught) {
    if (isGone(caught)) return false;
    throw caught;
  }
}
