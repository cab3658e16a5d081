import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '#shared/base/meta';
import type { Context } from '#shared/conduit/runtime';
import { firstAnnounced } from '#shared/domain';
import { isGone, type Kind } from '#shared/kubernetes/client';
import { versionOf } from './metadata.ts';

/**
 * Writes fields of an object's status, null to remove one, guarded by its resourceVersion; writes nothing if they have these values
 * already. Resolves with the current object, or undefined if it is gone. Rejects with Conflict if it has changed since it was read,
 * and with NotFound if the server does not know the kind.
 */
export async function writeStatus<T extends KubeObject>(
  { api, signal }: Pick<Context, 'api' | 'signal'>,
  kind: Kind<T>,
  object: T,
  status: object,
): Promise<T | undefined> {
  const before: Record<string, unknown> = { ...(object.status as object | undefined) };
  const same = Object.entries(status).every(([field, value]) =>
    isDeepStrictEqual(before[field] ?? null, value),
  );
  if (same) return object;
  const patch = { metadata: versionOf(object), status: { ...status, ...firstAnnounced(object) } };
  try {
    return await api.mergePatch(kind, object.metadata, patch, { subresource: 'status' }, signal);
  } catch (caught) {
    if (isGone(caught)) return undefined;
    throw caught;
  }
}
