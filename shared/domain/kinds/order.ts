import type { Condition, Cron, Duration, Json, Metadata, Reference, RetryPolicy } from './meta.ts';

/** One thing to move. `srcRef`, `dstRef` and `cron` fall back to the Order's defaults. */
export type Artifact = {
  name?: string;
  type: string;
  srcRef?: Reference;
  dstRef?: Reference;
  spec?: { [key: string]: Json };
  cron?: Cron;
};

export type OnChange = 'Rerun' | 'RerunUnfinished' | 'Keep';

export type OrderSpec = {
  defaults?: { srcRef?: Reference; dstRef?: Reference; cron?: Cron };
  artifacts?: Artifact[];
  ttl?: Duration;
  ttlSecondsAfterCompletion?: number;
  suspend?: boolean;
  retry?: RetryPolicy;
  onChange?: OnChange;
  queueName?: string;
};

export type OrderPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Suspended' | 'Scheduled';

/** What an Order's status says of one artifact: the phase of its ArtifactWorkflow, or `Invalid`. */
export type ArtifactStatus = {
  artifactIndex: number;
  phase: string;
  message?: string;
  completionTime?: string;
  name?: string;
  attempts?: number;
  progress?: string;
  digest?: string;
};

export type OrderCounts = {
  total: number;
  invalid: number;
  pending: number;
  running: number;
  succeeded: number;
  failed: number;
};

export type OrderStatus = {
  phase?: OrderPhase;
  message?: string;
  counts?: OrderCounts;
  /** Key: the 16 hex digits that end the ArtifactWorkflow's name, or `index-<n>` while there is none. */
  artifactWorkflows?: Record<string, ArtifactStatus>;
  endpointGenerations?: Record<string, number>;
  secretGenerations?: Record<string, number>;
  lastForceAt?: string;
  conditions?: Condition[];
  observedGeneration?: number;
  startTime?: string;
  completionTime?: string;
};

export type Order = {
  apiVersion: string;
  kind: string;
  metadata: Metadata;
  spec: OrderSpec;
  status?: OrderStatus;
};
