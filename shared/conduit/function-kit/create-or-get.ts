import { ArcError } from '#shared/base/errors';
import type { KubeObject } from '#shared/base/meta';
import type { Context } from '#shared/conduit/runtime';
import type { Kind } from '#shared/kubernetes/client';

/**
 * Creates an object, or reads the existing object of its name. Rejects with Conflict when that object disappears in between, and
 * with other errors of the API.
 */
export async function createOrGet<T extends KubeObject>(
  { api, signal }: Pick<Context, 'api' | 'signal'>,
  kind: Kind<T>,
  object: T,
): Promise<{ object: T; created: boolean }> {
  try {
    return { object: await api.create(kind, object, signal), created: true };
  } catch (caught) {
    if (!ArcError.is(caught, 'AlreadyExists')) throw caught;
  }
  const present = await api.get(kind, object.metadata, signal);
  if (present === undefined) {
    throw new ArcError('Conflict', `${kind.kind} "${object.metadata.name}" is being replaced`);
  }
  return { object: present, created: false };
}
