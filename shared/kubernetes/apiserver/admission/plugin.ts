import type { User } from '../authentication/user/user.ts';
import type { KubeObject } from '../kinds/definition.ts';

/**
 * An admission plug-in; kube-apiserver does not run its own for an aggregated API server. A plug-in implements one stage or both. Plug-ins
 * run in order, each with the object of the previous one. A stage rejects with ArcError (Forbidden, Invalid …) to refuse a write.
 */
export interface AdmissionPlugin {
  /** Label of metrics. */
  name: string;
  /** Tells whether the plug-in handles a write, as in admission.Interface of k8s.io/apiserver. The result is cached. Default: true. */
  handles?(write: HandledWrite): boolean;
  /**
   * Runs before validation. Resolves with the mutated object, or undefined to keep it. The object may be invalid, and its managedFields are
   * those of the client: the server computes them after this stage.
   */
  mutate?(request: AdmissionRequest): Promise<KubeObject | undefined>;
  /** Runs after validation, on the object to store. */
  validate?(request: AdmissionRequest): Promise<void>;
}

/** The attributes of a write on which `handles` may depend. */
export type HandledWrite = Pick<AdmissionRequest, 'operation' | 'kind' | 'subResource'>;

/** A write, with the field names of an AdmissionRequest of admission.k8s.io/v1. */
export interface AdmissionRequest {
  operation: 'CREATE' | 'UPDATE' | 'DELETE';
  kind: { group: string; version: string; kind: string };
  resource: { group: string; version: string; resource: string };
  /** '' for the main resource. */
  subResource: string;
  /** '' for cluster-scoped objects. */
  namespace: string;
  name: string;
  user: User;
  /** Undefined for DELETE. */
  object: KubeObject | undefined;
  /** Undefined for CREATE. */
  oldObject: KubeObject | undefined;
  /** True: nothing is stored, and plug-ins must not have side effects. */
  dryRun: boolean;
  /** CreateOptions, UpdateOptions or DeleteOptions of meta.k8s.io/v1; a patch has the options of its operation. */
  options: { apiVersion: string; kind: string; [field: string]: unknown };
  /** Adds a Warning header to the response, whether or not the write succeeds. */
  warn(text: string): void;
}
