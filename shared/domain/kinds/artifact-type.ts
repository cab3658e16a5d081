import type { Duration, Json, Metadata, Parameter, RetryPolicy, WorkflowTemplateRef } from './meta.ts';

export type ArtifactTypeSpec = {
  rules?: { srcTypes?: string[]; dstTypes?: string[] };
  parameters?: Parameter[];
  workflowTemplateRef: WorkflowTemplateRef;
  ttlAfterFinished?: Duration;
  ttlAfterFailed?: Duration;
  /** OpenAPI v3 for artifacts[].spec. */
  schema?: { [key: string]: Json };
  retry?: RetryPolicy;
  queueName?: string;
};

/** An ArtifactType, or a ClusterArtifactType: they differ in kind and in having a namespace. */
export type ArtifactType = {
  apiVersion: string;
  kind: string;
  metadata: Metadata;
  spec: ArtifactTypeSpec;
};
