import type { KubeObject, OwnerReference } from './object.ts';

/** Returns a controller reference to `owner`: the garbage collector deletes the object that carries it after its owner. */
export function ownerReference(owner: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>): OwnerReference {
  const { apiVersion, kind } = owner;
  const { name, uid = '' } = owner.metadata;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** True if `owner` owns `object`. The uid decides: a recreated owner is another owner. */
export function isOwnedBy(
  object: Pick<KubeObject, 'metadata'>,
  owner: Pick<KubeObject, 'metadata'>,
): boolean {
  const { uid } = owner.metadata;
  return uid !== undefined && object.metadata.ownerReferences?.some((ref) => ref.uid === uid) === true;
}

/** Returns the first owner of `kind`, if any. */
export function ownerOfKind(object: Pick<KubeObject, 'metadata'>, kind: string): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((ref) => ref.kind === kind);
}
