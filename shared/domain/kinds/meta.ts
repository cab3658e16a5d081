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

/** Another object of the same namespace. */
export type Reference = { name: string };

/** As metav1.Condition; `observedGeneration` tells which spec it speaks about (kstatus). */
export type Condition = {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
  lastTransitionTime: string;
  observedGeneration?: number;
};

/** A Go duration such as `1h30m`, `90s` or `0`. */
export type Duration = string;

/** One input of a workflow template; values are always strings (Argo's rule). */
export type Parameter = { name: string; value: string };

export type WorkflowTemplateRef = { name: string; clusterScope?: boolean };

/** When to run again and again; fields as in Argo's CronWorkflow. */
export type Cron = {
  schedules: string[];
  timezone?: string;
  startingDeadlineSeconds?: number;
  when?: string;
};

/** `limit`: extra attempts after the first. `backoff`: wait before the first of them, doubled for each further one. */
export type RetryPolicy = { limit?: number; backoff?: Duration };
