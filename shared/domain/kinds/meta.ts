/** A value that JSON can carry. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Object metadata as the API returns it; the same shape as shared/kube's, which the domain does not import. */
export interface Metadata {
  name: string;
  namespace?: string;
  generateName?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  [field: string]: unknown;
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** An object of any kind. */
export interface AnyObject {
  apiVersion: string;
  kind: string;
  metadata: Metadata;
  [field: string]: unknown;
}

/** A collection of the API and, as a phantom, the type of its objects; fits `Kind<T>` of shared/kube. */
export interface Ref<T extends AnyObject> {
  apiVersion: string;
  kind: string;
  plural: string;
  namespaced: boolean;
  readonly _type?: T;
}

/** An object of a kind whose schema has `Fields`. */
export type ObjectOf<Fields> = { apiVersion: string; kind: string; metadata: Metadata } & Fields;
