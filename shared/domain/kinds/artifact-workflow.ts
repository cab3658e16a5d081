import type {
  Condition,
  Cron,
  Duration,
  Json,
  Metadata,
  Parameter,
  Reference,
  RetryPolicy,
  WorkflowTemplateRef,
} from './meta.ts';

/** An Endpoint in the state an ArtifactWorkflow was made for. */
export type EndpointRef = { name: string; generation?: number; secretGeneration?: number };

export type ArtifactWorkflowSpec = {
  workflowTemplateRef: WorkflowTemplateRef;
  parameters?: Parameter[];
  srcSecretRef?: Reference;
  dstSecretRef?: Reference;
  cron?: Cron;
  type?: string;
  srcRef?: EndpointRef;
  dstRef?: EndpointRef;
  /** The artifact itself, unflattened, for the rendered configuration. */
  artifact?: { name?: string; spec?: { [key: string]: Json } };
  ttlAfterFinished?: Duration;
  ttlAfterFailed?: Duration;
  retry?: RetryPolicy;
  queueName?: string;
  suspend?: boolean;
};

export type WorkflowPhase =
  | 'Pending'
  | 'Queued'
  | 'Running'
  | 'Succeeded'
  | 'Failed'
  | 'Error'
  | 'Active'
  | 'Stopped';

/** The Workflow or CronWorkflow that stands for this object now. Written before it is created, so a crash loses none. */
export type WorkflowReference = {
  kind: 'Workflow' | 'CronWorkflow';
  name: string;
  attempt: number;
  /** The retry-at or force-at (Unix seconds) that this attempt answers. */
  rerunAt?: number;
};

/** What the worker reported (its one-line JSON), bounded. */
export type TransferResults = {
  outcome?: 'succeeded' | 'failed';
  reason?: string;
  message?: string;
  digest?: string;
  mediaType?: string;
  bytes?: TransferCounts;
  blobs?: TransferCounts;
  referrers?: number;
  warnings?: string[];
};

export type TransferCounts = { copied?: number; existed?: number; mounted?: number };

export type ArtifactWorkflowStatus = {
  phase?: WorkflowPhase;
  message?: string;
  startTime?: string;
  completionTime?: string;
  lastScheduled?: string;
  succeeded?: number;
  failed?: number;
  activeWorkflowRef?: Reference;
  configSecret?: Reference;
  /** Why there is no configuration yet, where somebody has to act. */
  configMessage?: string;
  workflowRef?: WorkflowReference;
  attempts?: number;
  /** The attempt that phase, message, progress and results speak of; 1 if absent. */
  syncedAttempt?: number;
  nextAttemptTime?: string;
  progress?: string;
  results?: TransferResults;
  conditions?: Condition[];
  observedGeneration?: number;
};

export type ArtifactWorkflow = {
  apiVersion: string;
  kind: string;
  metadata: Metadata;
  spec: ArtifactWorkflowSpec;
  status?: ArtifactWorkflowStatus;
};
