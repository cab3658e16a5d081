import type { KubeObject, ObjectMeta } from '../kinds/definition.ts';

/** metav1.ListMeta. */
export interface ListMeta {
  resourceVersion?: string;
  continue?: string;
  remainingItemCount?: number;
}

/** The metadata of an object, requested by garbage collectors and metadata informers. */
export interface PartialObjectMetadata {
  kind: 'PartialObjectMetadata';
  apiVersion: 'meta.k8s.io/v1';
  metadata: ObjectMeta;
}

/** Returns the PartialObjectMetadata of an object. Shares the metadata with the object. */
export function toPartial(object: KubeObject): PartialObjectMetadata {
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata };
}
