import type { KubeObject, ObjectMeta } from '../kinds/definition.ts';

/** metav1.ListMeta, as lists, pages and Tables carry it. */
export interface ListMeta {
  resourceVersion?: string;
  continue?: string;
  remainingItemCount?: number;
}

/** An object's metadata alone: garbage collectors and metadata informers ask for it. */
export interface PartialObjectMetadata {
  kind: 'PartialObjectMetadata';
  apiVersion: 'meta.k8s.io/v1';
  metadata: ObjectMeta;
}

/** The object's metadata, whole, under the kind of meta.k8s.io/v1. Shares the metadata with the object. */
export function toPartial(object: KubeObject): PartialObjectMetadata {
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata };
}
