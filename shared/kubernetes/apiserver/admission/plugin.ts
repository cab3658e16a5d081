import type { User } from '../authentication/user/user.ts';
import type { KubeObject } from '../kinds/definition.ts';

/**
 * An admission controller. kube-apiserver runs none for an aggregated server. A plug-in has one stage or both; plug-ins run in
 * order, each on the object that the one before it returned. A stage rejects with ArcError (Forbidden, Invalid …) to refuse.
 */
export interface AdmissionPlugin {
  /** Becomes a label of metrics. */
  name: string;
  /** Whether such writes concern the plug-in, as admission.Interface of k8s.io/apiserver. Default: every write. */
  handles?(write: HandledWrite): boolean;
  /**
   * Runs before validation. Resolves with the changed object, or undefined to leave it as it is. The object may be invalid and
   * has no new managedFields yet: they are computed from the result of this stage.
   */
  mutate?(request: AdmissionRequest): Promise<KubeObject | undefined>;
  /** Runs after validation, on the object to store. */
  validate?(request: AdmissionRequest): Promise<void>;
}

/** What is known of a write before its object is: the answer for it never changes. */
export type HandledWrite = Pick<AdmissionRequest, 'operation' | 'kind' | 'subResource'>;

/** One write, in the terms of an AdmissionRequest of admission.k8s.io/v1. */
export interface AdmissionRequest {
  operation: 'CREATE' | 'UPDATE' | 'DELETE';
  kind: { group: string; version: string; kind: string };
  resource: { group: string; version: string; resource: string };
  /** '' for the object itself. */
  subResource: string;
  /** '' for cluster-scoped objects. */
  namespace: string;
  name: string;
  user: User;
  /** Undefined for DELETE. */
  object: KubeObject | undefined;
  /** Undefined for CREATE. */
  oldObject: KubeObject | undefined;
  /** True: nothing is stored, and a plug-in must have no side effects. */
  dryRun: boolean;
  /** CreateOptions, UpdateOptions or DeleteOptions of meta.k8s.io/v1 as they were given; a patch has those of its operation. */
  options: { apiVersion: string; kind: string; [field: string]: unknown };
  /** Tells the user something in a Warning header, whatever becomes of the write. */
  warn(text: string): void;
}
