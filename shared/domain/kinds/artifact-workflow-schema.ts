import * as z from 'zod';
import {
  conditions,
  cron,
  duration,
  freeObject,
  observedGeneration,
  parameters,
  reference,
  retry,
  workflowTemplateRef,
} from './common-schema.ts';

const endpointRef = (what: string) =>
  z
    .object({
      name: z.string().describe('Name of the Endpoint.'),
      generation: z.int().optional().describe('Generation of the Endpoint that this was made for.'),
      secretGeneration: z.int().optional().describe('Count of its credentials that this was made for.'),
    })
    .describe(what);

const spec = z.object({
  workflowTemplateRef,
  parameters: parameters.optional(),
  srcSecretRef: reference('The Secret with the credentials of the source. Immutable.').optional(),
  dstSecretRef: reference('The Secret with the credentials of the destination. Immutable.').optional(),
  cron: cron.optional(),
  type: z.string().optional().describe('The type of the artifact. Immutable.'),
  srcRef: endpointRef('The source in the state that this was made for. Immutable.').optional(),
  dstRef: endpointRef('The destination in the state that this was made for. Immutable.').optional(),
  artifact: z
    .object({
      name: z.string().optional().describe('Its name in the Order.'),
      spec: freeObject("Its spec, with the type's parameters applied.").optional(),
    })
    .optional()
    .describe('The artifact itself, for the rendered configuration. Immutable.'),
  ttlAfterFinished: duration('Removed that long after it succeeded; unset keeps it.').optional(),
  ttlAfterFailed: duration('Removed that long after it failed; unset keeps it.').optional(),
  retry: retry.optional(),
  queueName: z.string().optional().describe('The Kueue LocalQueue to wait in.'),
  suspend: z.boolean().optional().describe('True starts no attempt and suspends the CronWorkflow.'),
});

const counts = z.object({
  copied: z.int().optional().describe('Sent to the destination.'),
  existed: z.int().optional().describe('There already.'),
  mounted: z.int().optional().describe('Taken over from another repository of the destination.'),
});

const results = z.object({
  outcome: z.enum(['succeeded', 'failed']).optional().describe('How the transfer ended.'),
  reason: z.string().optional().describe('Kind of failure: retryable, permanent, denied, auth or config.'),
  message: z.string().optional().describe('What the worker says of the failure.'),
  digest: z.string().optional().describe('Digest of what was moved.'),
  mediaType: z.string().optional().describe('Media type of what was moved.'),
  bytes: counts.optional().describe('Bytes by how they got there.'),
  blobs: counts.optional().describe('Blobs by how they got there.'),
  referrers: z.int().optional().describe('Signatures, attestations and SBOMs moved along.'),
  warnings: z
    .array(z.string())
    .optional()
    .describe('What the worker wants known.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
});

const status = z.object({
  phase: z
    .enum(['Pending', 'Queued', 'Running', 'Succeeded', 'Failed', 'Error', 'Active', 'Stopped'])
    .optional()
    .describe('Where the attempt in force stands; Active for one on a schedule.'),
  message: z.string().optional().describe('Why, in a sentence; for failures with the last lines of the log.'),
  startTime: z.string().optional().describe('When the attempt started.'),
  completionTime: z.string().optional().describe('When the attempt ended.'),
  lastScheduled: z.string().optional().describe('When the schedule last started a run.'),
  succeeded: z.int().optional().describe('Runs of the schedule that succeeded.'),
  failed: z.int().optional().describe('Runs of the schedule that failed.'),
  activeWorkflowRef: reference('The run of the schedule that is going on.').optional(),
  configSecret: reference('The Secret with the rendered configuration, while it is needed.').optional(),
  configMessage: z.string().optional().describe('Why there is no configuration yet.'),
  workflowRef: z
    .object({
      kind: z.enum(['Workflow', 'CronWorkflow']).describe('Which kind of Argo object.'),
      name: z.string().describe('Its name.'),
      attempt: z.int().describe('Which attempt it is, from 1.'),
      rerunAt: z.int().optional().describe('The retry-at or force-at (Unix seconds) it answers.'),
    })
    .optional()
    .describe('The Argo object of the attempt in force; written before that is created.'),
  attempts: z.int().optional().describe('Attempts so far.'),
  syncedAttempt: z.int().optional().describe('The attempt that phase, message and results speak of.'),
  nextAttemptTime: z.string().optional().describe('When the next attempt is due.'),
  progress: z.string().optional().describe('n/m of the work; never falls.'),
  results: results.optional().describe('What the worker reported.'),
  conditions: conditions.optional(),
  observedGeneration,
});

export const artifactWorkflowSchema = z.object({
  spec: spec.describe('One artifact to move. What makes it another transfer is immutable.'),
  status: status.optional().describe('What became of it.'),
});
