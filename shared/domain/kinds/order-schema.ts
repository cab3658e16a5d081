import * as z from 'zod';
import {
  conditions,
  cron,
  duration,
  freeObject,
  observedGeneration,
  reference,
  retry,
} from './common-schema.ts';

const artifact = z.object({
  name: z.string().optional().describe('A name for people, unique in the Order.'),
  type: z.string().describe('Name of the ArtifactType (in this namespace) or ClusterArtifactType.'),
  srcRef: reference('The Endpoint to take it from. Default: spec.defaults.srcRef.').optional(),
  dstRef: reference('The Endpoint to bring it to. Default: spec.defaults.dstRef.').optional(),
  spec: freeObject('What exactly to move; which fields there are is up to the type.').optional(),
  cron: cron.optional(),
});

const spec = z.object({
  defaults: z
    .object({
      srcRef: reference('Source of artifacts that name none.').optional(),
      dstRef: reference('Destination of artifacts that name none.').optional(),
      cron: cron.optional(),
    })
    .optional()
    .describe('What holds for artifacts that say nothing else.'),
  artifacts: z
    .array(artifact)
    .optional()
    .describe('What to move. Each artifact succeeds or fails by itself.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  ttl: duration('The Order is deleted that long after its creation; unset keeps it.').optional(),
  ttlSecondsAfterCompletion: z
    .int()
    .min(0)
    .optional()
    .describe(
      "Each ArtifactWorkflow is removed that many seconds after it finished; overrides the type's TTLs.",
    ),
  suspend: z.boolean().optional().describe('True starts nothing new. What runs goes on.'),
  retry: retry.optional(),
  onChange: z
    .enum(['Rerun', 'RerunUnfinished', 'Keep'])
    .optional()
    .describe(
      'What a changed Endpoint, credential or type does: run all again, only what has not succeeded, or nothing.',
    ),
  queueName: z.string().optional().describe('The Kueue LocalQueue to wait in.'),
});

const count = (what: string) => z.int().describe(`Number of artifacts ${what}.`);

const artifactStatus = z.object({
  artifactIndex: z.int().describe('Position in spec.artifacts, from 0.'),
  phase: z.string().describe('Phase of its ArtifactWorkflow, or Invalid.'),
  message: z.string().optional().describe('Why, in a sentence.'),
  completionTime: z.string().optional().describe('When it finished.'),
  name: z.string().optional().describe('Name of the artifact.'),
  attempts: z.int().optional().describe('Attempts so far, if more than one.'),
  progress: z.string().optional().describe('n/m of the work while it runs.'),
  digest: z.string().optional().describe('Digest of what arrived.'),
});

const status = z.object({
  phase: z
    .enum(['Pending', 'Running', 'Succeeded', 'Failed', 'Suspended', 'Scheduled'])
    .optional()
    .describe('Where the Order stands as a whole.'),
  message: z.string().optional().describe('The same in a sentence.'),
  counts: z
    .object({
      total: count('in the Order'),
      invalid: count('that cannot be moved as they are'),
      pending: count('that wait'),
      running: count('that are being moved'),
      succeeded: count('that have arrived'),
      failed: count('that have failed'),
    })
    .optional()
    .describe('How many artifacts are in which state.'),
  artifactWorkflows: z
    .record(z.string(), artifactStatus)
    .optional()
    .describe(
      'Each artifact, by the hash that ends the name of its ArtifactWorkflow, or index-<n> while it has none.',
    )
    .meta({ 'x-kubernetes-map-type': 'atomic' }),
  endpointGenerations: z
    .record(z.string(), z.int())
    .optional()
    .describe('By Endpoint, the generation this status was computed from.'),
  secretGenerations: z
    .record(z.string(), z.int())
    .optional()
    .describe('By Endpoint, the count of its credentials this status was computed from.'),
  lastForceAt: z.string().optional().describe('The time of the last force-at that was answered.'),
  conditions: conditions.optional(),
  observedGeneration,
  startTime: z.string().optional().describe('When the first artifact started.'),
  completionTime: z.string().optional().describe('When the last artifact finished.'),
});

export const orderSchema = z.object({
  spec: spec.default({}).describe('What to move, from where and to where.'),
  status: status.optional().describe('What became of it.'),
});
