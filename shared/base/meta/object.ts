/** Any object of the Kubernetes API. All other fields belong to the kind. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
}

/** metav1.ObjectMeta, as JSON carries it. Times are RFC 3339 in UTC with whole seconds. */
export interface ObjectMeta {
  name: string;
  /** Absent for cluster-scoped objects. */
  namespace?: string;
  generateName?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  [field: string]: unknown;
}

/** metav1.OwnerReference: an object in the same namespace, or a cluster-scoped object. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}
