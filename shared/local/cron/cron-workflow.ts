import type { KubeObject } from '#shared/base/meta';
import type { Kind } from '#shared/kubernetes/client';
import type { WorkflowSpec } from '../executor/workflow.ts';

/** The fields of a CronWorkflow that the controller uses; `schedule` is Argo's older form of `schedules`. */
export interface CronWorkflow extends KubeObject {
  spec: {
    schedule?: string;
    schedules?: string[];
    timezone?: string;
    /** The condition for a run: when.ts. */
    when?: string;
    suspend?: boolean;
    startingDeadlineSeconds?: number | null;
    concurrencyPolicy?: 'Allow' | 'Forbid' | 'Replace' | '';
    successfulJobsHistoryLimit?: number | null;
    failedJobsHistoryLimit?: number | null;
    workflowSpec: WorkflowSpec;
    workflowMetadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
  };
  status?: CronWorkflowStatus;
}

export interface CronWorkflowStatus {
  active?: { name: string; namespace?: string; uid?: string }[] | null;
  lastScheduledTime?: string | null;
  succeeded?: number;
  failed?: number;
  phase?: string;
}

export const cronWorkflows: Kind<CronWorkflow> = {
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'CronWorkflow',
  plural: 'cronworkflows',
  namespaced: true,
};
