import type { KubeObject, ObjectMeta } from '#shared/base/meta';

/** A collection of the API with, as a phantom, the type of its objects. Fits `Kind<T>` of shared/kubernetes/client. */
export interface Ref<T extends KubeObject> {
  apiVersion: string;
  kind: string;
  plural: string;
  namespaced: boolean;
  readonly _type?: T;
}

/** An object of a kind with the given fields. */
export type ObjectOf<Fields> = { apiVersion: string; kind: string; metadata: ObjectMeta } & Fields;
