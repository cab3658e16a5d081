/** One thing that exactly one function writes. */
export interface Ownership {
  kind: string;
  /** Paths within the object; `*` is a whole object, its creation and deletion included. */
  fields: readonly string[];
  writer: string;
}

/** Who writes what: one writer per thing. Users write what is not listed. */
export const owners: readonly Ownership[] = [
  { kind: 'Order', fields: ['metadata.finalizers'], writer: 'decompose-order' },
  { kind: 'Order', fields: ['status'], writer: 'roll-up-order' },
  { kind: 'Order', fields: ['metadata.deletionTimestamp'], writer: 'expire-objects' },
  {
    kind: 'ArtifactWorkflow',
    fields: [
      '*',
      'spec.ttlAfterFinished',
      'spec.ttlAfterFailed',
      'spec.retry',
      'spec.queueName',
      'spec.suspend',
      'metadata.annotations',
    ],
    writer: 'decompose-order',
  },
  {
    kind: 'ArtifactWorkflow',
    fields: [
      'status.phase',
      'status.syncedAttempt',
      'status.message',
      'status.startTime',
      'status.completionTime',
      'status.lastScheduled',
      'status.succeeded',
      'status.failed',
      'status.activeWorkflowRef',
      'status.progress',
      'status.results',
      'status.conditions',
      'status.observedGeneration',
    ],
    writer: 'sync-status',
  },
  {
    kind: 'ArtifactWorkflow',
    fields: ['status.configSecret', 'status.configMessage'],
    writer: 'render-secret',
  },
  {
    kind: 'ArtifactWorkflow',
    fields: ['metadata.finalizers', 'status.workflowRef', 'status.attempts', 'status.nextAttemptTime'],
    writer: 'submit-workflow',
  },
  { kind: 'ArtifactWorkflow', fields: ['metadata.deletionTimestamp'], writer: 'expire-objects' },
  { kind: 'Secret', fields: ['*'], writer: 'render-secret' },
  { kind: 'Workflow', fields: ['*'], writer: 'submit-workflow' },
  { kind: 'CronWorkflow', fields: ['*'], writer: 'submit-workflow' },
  {
    kind: 'Endpoint',
    fields: ['status.observedGeneration', 'status.secretGeneration', 'status.credentialDigest'],
    writer: 'track-credentials',
  },
  { kind: 'Endpoint', fields: ['status.conditions', 'status.lastProbeTime'], writer: 'probe-endpoint' },
  { kind: 'Endpoint', fields: ['status.inFlight'], writer: 'submit-workflow' },
];
