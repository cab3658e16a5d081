import type { Json, ObjectMeta } from '#shared/base/meta';
import type { Condition, Parameter, Reference, WorkflowTemplateRef } from './common.ts';

/** The part of Argo's WorkflowSpec that a submission may set under `templateReferencing: Strict`. */
export type WorkflowSpec = {
  workflowTemplateRef?: WorkflowTemplateRef;
  arguments?: { parameters?: Parameter[] };
  shutdown?: 'Stop' | 'Terminate';
  suspend?: boolean;
  ttlStrategy?: {
    secondsAfterCompletion?: number;
    secondsAfterSuccess?: number;
    secondsAfterFailure?: number;
  };
  workflowMetadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
  [field: string]: unknown;
};

/** `name` and `value` of one output; Argo prints other fields too. */
export type OutputParameter = { name: string; value?: string; globalName?: string; [field: string]: unknown };

export type WorkflowNode = {
  id?: string;
  name?: string;
  displayName?: string;
  type?: string;
  phase?: string;
  message?: string;
  finishedAt?: string | null;
  outputs?: { parameters?: OutputParameter[]; exitCode?: string; [field: string]: unknown };
  [field: string]: unknown;
};

export type WorkflowStatus = {
  phase?: '' | 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Error';
  message?: string;
  progress?: string;
  startedAt?: string | null;
  finishedAt?: string | null;
  nodes?: Record<string, WorkflowNode>;
  outputs?: { parameters?: OutputParameter[]; [field: string]: unknown };
  conditions?: Array<Partial<Condition>>;
  [field: string]: unknown;
};

/** argoproj.io/v1alpha1 Workflow. */
export type Workflow = {
  apiVersion: string;
  kind: 'Workflow';
  metadata: ObjectMeta;
  spec: WorkflowSpec;
  status?: WorkflowStatus;
};

/** argoproj.io/v1alpha1 CronWorkflow. */
export type CronWorkflow = {
  apiVersion: string;
  kind: 'CronWorkflow';
  metadata: ObjectMeta;
  spec: {
    schedules?: string[];
    timezone?: string;
    startingDeadlineSeconds?: number;
    when?: string;
    suspend?: boolean;
    concurrencyPolicy?: 'Allow' | 'Forbid' | 'Replace';
    successfulJobsHistoryLimit?: number;
    failedJobsHistoryLimit?: number;
    workflowSpec: WorkflowSpec;
    workflowMetadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
    [field: string]: unknown;
  };
  status?: {
    active?: Array<Reference & { [field: string]: unknown }> | null;
    lastScheduledTime?: string | null;
    succeeded?: number;
    failed?: number;
    conditions?: Array<Partial<Condition>> | null;
    [field: string]: unknown;
  };
};

/** argoproj.io/v1alpha1 WorkflowTemplate, or ClusterWorkflowTemplate. */
export type WorkflowTemplate = {
  apiVersion: string;
  kind: 'WorkflowTemplate' | 'ClusterWorkflowTemplate';
  metadata: ObjectMeta;
  spec: { [field: string]: Json };
};
