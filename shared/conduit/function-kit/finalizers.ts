import type { KubeObject } from '#shared/base/meta';
import type { Context } from '#shared/conduit/runtime';
import type { Kind } from '#shared/kubernetes/client';
import { ignoreNotFound } from './api-errors.ts';
import { versionOf } from './metadata.ts';

type Api = Pick<Context, 'api' | 'signal'>;

/** Adds a finalizer. Resolves with false if the object is gone; rejects with Conflict if it has changed since it was read. */
export async function addFinalizer<T extends KubeObject>(
  context: Api,
  kind: Kind<T>,
  object: T,
  finalizer: string,
): Promise<boolean> {
  return setFinalizers(context, kind, object, [...(object.metadata.finalizers ?? []), finalizer]);
}

/** Removes a finalizer. A missing object is a success; rejects with Conflict if the object has changed since it was read. */
export async function removeFinalizer<T extends KubeObject>(
  context: Api,
  kind: Kind<T>,
  object: T,
  finalizer: string,
): Promise<void> {
  const others = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  await setFinalizers(context, kind, object, others);
}

async function setFinalizers<T extends KubeObject>(
  { api, signal }: Api,
  kind: Kind<T>,
  object: T,
  finalizers: string[],
): Promise<boolean> {
  const patch = { metadata: { ...versionOf(object), finalizers } };
  const written = await ignoreNotFound(api.mergePatch(kind, object.metadata, patch, {}, signal));
  return written !== undefined;
}
