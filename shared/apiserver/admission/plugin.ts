import type { User } from '../authentication/user.ts';
import type { KubeObject } from '../kinds/definition.ts';

/**
 * Joins in deciding about writes, as an admission controller of kube-apiserver does, which runs none for an aggregated
 * server. A plug-in has one stage or both; plug-ins run in order, each on what those before it left. Rejects with
 * ArcError (Forbidden, Invalid …) to refuse.
 */
export interface AdmissionPlugin {
  /** Becomes a label of metrics. */
  name: string;
  /**
   * Before the object is validated. Resolves with the object to go on with, or undefined to leave it as it is. It may be
   * invalid here, and does not tell yet who owns its fields: that is computed from what this stage makes of it.
   */
  mutate?(request: AdmissionRequest): Promise<KubeObject | undefined>;
  /** Behind validation, on what would be stored. */
  validate?(request: AdmissionRequest): Promise<void>;
}

/** One write, in the terms of an AdmissionRequest of admission.k8s.io/v1. */
export interface AdmissionRequest {
  operation: 'CREATE' | 'UPDATE' | 'DELETE';
  kind: { group: string; version: string; kind: string };
  resource: { group: string; version: string; resource: string };
  /** '' for the object itself. */
  subResource: string;
  /** '' for what belongs to no namespace. */
  namespace: string;
  name: string;
  user: User;
  /** undefined where it is deleted. */
  object: KubeObject | undefined;
  /** undefined where it is created. */
  oldObject: KubeObject | undefined;
  /** True where nothing will be stored: a plug-in must have no effects then. */
  dryRun: boolean;
  /** CreateOptions, UpdateOptions or DeleteOptions of meta.k8s.io/v1 as far as they were given; a patch has the options of what it comes to. */
  options: { apiVersion: string; kind: string; [field: string]: unknown };
}
