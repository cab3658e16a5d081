import type { KubeObject, ObjectMeta } from '#shared/base/meta';

/** A collection of the API with, as a phantom, the type of its objects. Fits `Kind<T>` of shared/kubernetes/client. */
export interface Ref<T extends KubeObject> {
  apiVersion: string;
  kind: T['kind'];
  plural: string;
  namespaced: boolean;
  readonly _type?: T;
}

/** An object of a kind with the given fields. */
export type ObjectOf<Kind extends string, Fields = unknown> = {
  apiVersion: string;
  kind: Kind;
  metadata: ObjectMeta;
} & Fields;
