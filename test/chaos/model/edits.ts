import { ArcError } from '#shared/base/errors';
import type { KubeObject, ObjectMeta } from '#shared/base/meta';
import type { Ref } from '#shared/domain';
import type { Key } from '#shared/kubernetes/client';
import { endpoint } from '../../../shared/domain/testing/objects.ts';
import type { Conduit } from './conduit.ts';

/** What a user, an operator or the cluster does in the midst of it. `choice` says which of its objects. */
export type Operation = (conduit: Conduit, choice: number) => Promise<void>;

/** A collection, whatever its objects are like. */
export type Place = Pick<Ref<KubeObject>, 'apiVersion' | 'kind' | 'plural' | 'namespaced'>;

export async function create({ client }: Conduit, place: Place, object: KubeObject): Promise<void> {
  await ifPossible(client.create<KubeObject>(place, object));
}

export async function patch({ client }: Conduit, place: Place, key: Key, change: object): Promise<void> {
  await ifPossible(client.mergePatch<KubeObject>(place, key, change));
}

export async function remove({ client, kube, removed }: Conduit, place: Place, key: Key): Promise<void> {
  const uid = kube.read<KubeObject>(place, key)?.metadata.uid;
  if (uid !== undefined) removed.add(uid);
  await ifPossible(client.delete(place, key));
}

export async function removeOne(
  conduit: Conduit,
  place: Place,
  choice: number,
  of: (object: KubeObject) => boolean = () => true,
): Promise<void> {
  const all = conduit.kube.all<KubeObject>(place).filter(of);
  const one = all[choice % all.length];
  if (one) await remove(conduit, place, one.metadata);
}

/** What is there already, or no longer, is no matter. */
export async function ifPossible(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (caught) {
    if (!ArcError.is(caught, 'NotFound', 'AlreadyExists')) throw caught;
  }
}

/** An Endpoint that nobody has looked at. */
export function unseen(...args: Parameters<typeof endpoint>) {
  const { status: _none, ...rest } = endpoint(...args);
  return asNew(rest);
}

/** Its uid is the API's to give. */
export function asNew<T extends { metadata: ObjectMeta }>(object: T): T {
  const { uid: _given, ...metadata } = object.metadata;
  return { ...object, metadata };
}
