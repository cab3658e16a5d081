import type { KubeObject } from '#shared/base/meta';
import type { Kind } from '#shared/kubernetes/client';

const apiVersion = 'argoproj.io/v1alpha1';

export type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Error';

export interface Parameter {
  name: string;
  value?: string | null;
  default?: string | null;
  globalName?: string;
  valueFrom?: { path?: string; default?: string | null };
}

export interface Volume {
  name: string;
  secret?: { secretName?: string; optional?: boolean; items?: { key: string; path: string }[] };
  emptyDir?: object;
  persistentVolumeClaim?: { claimName?: string };
}

export interface Container {
  name?: string;
  image?: string;
  args?: string[];
  env?: { name: string; value?: string }[];
  volumeMounts?: { name: string; mountPath: string }[];
  dependencies?: string[];
  terminationMessagePolicy?: string;
}

export interface RetryStrategy {
  limit?: number | string;
  retryPolicy?: string;
}

export interface Template {
  name: string;
  inputs?: { parameters?: Parameter[] };
  outputs?: { parameters?: Parameter[] };
  container?: Container;
  containerSet?: { containers?: Container[]; volumeMounts?: { name: string; mountPath: string }[] };
  volumes?: Volume[];
  activeDeadlineSeconds?: number | string;
  retryStrategy?: RetryStrategy;
}

/** The fields of a WorkflowSpec that the executor uses. */
export interface WorkflowSpec {
  entrypoint?: string;
  arguments?: { parameters?: Parameter[] };
  templates?: Template[];
  volumes?: Volume[];
  /** YAML that is merged over the pod. */
  podSpecPatch?: string;
  workflowTemplateRef?: { name: string; clusterScope?: boolean };
  shutdown?: string;
  suspend?: boolean;
  activeDeadlineSeconds?: number | null;
  retryStrategy?: RetryStrategy;
  ttlStrategy?: {
    secondsAfterCompletion?: number;
    secondsAfterSuccess?: number;
    secondsAfterFailure?: number;
  };
}

/** One entry of `status.nodes`, in Argo's shape. */
export interface WorkflowNode {
  id: string;
  name: string;
  displayName: string;
  type: 'Pod' | 'Retry';
  templateName: string;
  phase: Phase;
  startedAt: string;
  finishedAt?: string;
  message?: string;
  progress?: string;
  children?: string[];
  outputs?: { parameters?: Parameter[]; exitCode?: string };
}

export interface WorkflowStatus {
  phase?: Phase | '';
  startedAt?: string | null;
  finishedAt?: string | null;
  message?: string;
  progress?: string;
  nodes?: Record<string, WorkflowNode>;
  outputs?: { parameters?: Parameter[] };
  conditions?: { type: string; status: string }[];
}

export interface Workflow extends KubeObject {
  spec: WorkflowSpec;
  status?: WorkflowStatus;
}

export interface WorkflowTemplate extends KubeObject {
  spec: WorkflowSpec;
}

export interface Secret extends KubeObject {
  data?: Record<string, string>;
}

export const workflows: Kind<Workflow> = {
  apiVersion,
  kind: 'Workflow',
  plural: 'workflows',
  namespaced: true,
};
export const workflowTemplates: Kind<WorkflowTemplate> = {
  apiVersion,
  kind: 'WorkflowTemplate',
  plural: 'workflowtemplates',
  namespaced: true,
};
export const clusterWorkflowTemplates: Kind<WorkflowTemplate> = {
  apiVersion,
  kind: 'ClusterWorkflowTemplate',
  plural: 'clusterworkflowtemplates',
  namespaced: false,
};
export const secrets: Kind<Secret> = {
  apiVersion: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  namespaced: true,
};
