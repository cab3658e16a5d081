import * as z from 'zod';
import {
  announced,
  conditions,
  cron,
  duration,
  freeObject,
  observedGeneration,
  reference,
  retry,
} from './common.ts';
import type { ObjectOf } from './meta.ts';
import { orderPhases } from './phases.ts';

/** One artifact to transfer. `srcRef`, `dstRef` and `cron` default to the Order's defaults. */
export type Artifact = z.infer<typeof artifact>;
const artifact = z.object({
  name: z.string().exactOptional().describe('A name for people, unique in the Order.'),
  type: z.string().describe('Name of the ArtifactType (in this namespace) or ClusterArtifactType.'),
  srcRef: reference('The Endpoint to take it from. Default: spec.defaults.srcRef.').exactOptional(),
  dstRef: reference('The Endpoint to bring it to. Default: spec.defaults.dstRef.').exactOptional(),
  spec: freeObject('The fields that the type defines, such as image for oci.').exactOptional(),
  cron: cron.exactOptional(),
  cancel: z
    .boolean()
    .exactOptional()
    .describe('True stops this artifact and keeps it Cancelled until it is taken back.'),
});

export type OrderSpec = z.infer<typeof spec>;
export type OnChange = NonNullable<OrderSpec['onChange']>;
const spec = z.object({
  defaults: z
    .object({
      srcRef: reference('Source of artifacts that name none.').exactOptional(),
      dstRef: reference('Destination of artifacts that name none.').exactOptional(),
      cron: cron.exactOptional(),
    })
    .exactOptional()
    .describe('Defaults for artifacts that set no value of their own.'),
  artifacts: z
    .array(artifact)
    .exactOptional()
    .describe('The artifacts to move. Each succeeds or fails by itself.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  ttl: duration('The Order is deleted that long after its creation; unset keeps it.').exactOptional(),
  ttlSecondsAfterCompletion: z
    .int()
    .min(0)
    .exactOptional()
    .describe(
      "Each ArtifactWorkflow is removed that many seconds after it finished; overrides the type's TTLs.",
    ),
  suspend: z.boolean().exactOptional().describe('True starts nothing new; artifacts that run go on.'),
  cancel: z
    .boolean()
    .exactOptional()
    .describe(
      'True stops what runs and starts nothing: what has not finished is Cancelled until this is taken back.',
    ),
  retry: retry.exactOptional(),
  onChange: z
    .enum(['Rerun', 'RerunUnfinished', 'Keep'])
    .exactOptional()
    .describe(
      'The effect of a changed Endpoint, credential or type: everything runs again (Rerun, the default), only artifacts that have not succeeded do (RerunUnfinished), or none does (Keep).',
    ),
  verify: z
    .enum(['Always', 'OnForce', 'Never'])
    .exactOptional()
    .describe(
      'When every blob is looked for at the destination and sent again where it is lost, though the manifest is there: in runs that a force asked for (OnForce, the default), in every run (Always), or in none (Never).',
    ),
  queueName: z.string().exactOptional().describe('The Kueue LocalQueue to wait in.'),
  parallelism: z
    .int()
    .min(1)
    .exactOptional()
    .describe('How many of its transfers may run at once. Default: no limit but those of the Endpoints.'),
  revisionHistoryLimit: z
    .int()
    .min(0)
    .exactOptional()
    .describe('Finished versions of each artifact that are kept beside the one in force. Default: 3.'),
});

/** Has a default because an earlier release, or a client that knows fewer phases, may have written a partial status. */
const count = (what: string) => z.int().default(0).describe(`Number of artifacts ${what}.`);

/** The state of one artifact in an Order's status: the phase of its ArtifactWorkflow, or `Invalid`. */
export type ArtifactStatus = z.infer<typeof artifactStatus>;
const artifactStatus = z.object({
  artifact: z.string().exactOptional().describe('Name of the artifact in the Order.'),
  name: z.string().exactOptional().describe('The same as `artifact`, for clients of earlier releases.'),
  artifactIndex: z.int().default(0).describe('Position in spec.artifacts, from 0.'),
  phase: z.string().default('Pending').describe('Phase of its ArtifactWorkflow, or Invalid.'),
  reason: z
    .string()
    .exactOptional()
    .describe('Why it neither runs nor has ended, in one word: see docs/status.md.'),
  message: z.string().exactOptional().describe('Why, in a sentence.'),
  since: z.string().exactOptional().describe('Since when it has waited for that, or has run.'),
  completionTime: z.string().exactOptional().describe('When it finished.'),
  attempts: z.int().exactOptional().describe('Attempts so far, if more than one.'),
  artifactWorkflow: z
    .string()
    .exactOptional()
    .describe('Name of its ArtifactWorkflow; left out in Orders of many artifacts.'),
  revision: z
    .int()
    .exactOptional()
    .describe('Which version of the artifact it is; the first is left out in Orders of many artifacts.'),
  progress: z.string().exactOptional().describe('n/m of the work while it runs.'),
  digest: z.string().exactOptional().describe('Digest of what arrived.'),
  bytesCopied: z
    .int()
    .exactOptional()
    .describe('Bytes that were copied, if any; left out in Orders of many artifacts.'),
});

export type OrderStatus = z.infer<typeof status>;
export type OrderCounts = NonNullable<OrderStatus['counts']>;
const status = z.object({
  phase: z.enum(orderPhases).exactOptional().describe('Where the Order stands as a whole.'),
  message: z.string().exactOptional().describe('The state in a sentence.'),
  counts: z
    .object({
      total: count('in the Order'),
      invalid: count('that cannot be moved as they are'),
      pending: count('that wait'),
      running: count('that are being moved'),
      succeeded: count('that have arrived'),
      failed: count('that have failed'),
      cancelled: count('that were cancelled before they had finished'),
    })
    .exactOptional()
    .describe('How many artifacts are in which state.'),
  artifactWorkflows: z
    .record(z.string(), artifactStatus)
    .exactOptional()
    .describe(
      'Each artifact, by the hash that ends the name of its ArtifactWorkflow, or index-<n> while it has none.',
    )
    .meta({ 'x-kubernetes-map-type': 'atomic' }),
  endpointGenerations: z
    .record(z.string(), z.int())
    .exactOptional()
    .describe('By Endpoint, the generation this status was computed from.'),
  secretGenerations: z
    .record(z.string(), z.int())
    .exactOptional()
    .describe('By Endpoint, the count of its credentials this status was computed from.'),
  inputs: z
    .string()
    .exactOptional()
    .describe(
      'Hash of the state of the Endpoints, types, templates and settings that this status was computed from.',
    ),
  lastForceAt: z.string().exactOptional().describe('The time of the last force-at that was answered.'),
  announced,
  conditions: conditions.exactOptional(),
  observedGeneration,
  startTime: z.string().exactOptional().describe('When the first artifact started.'),
  completionTime: z.string().exactOptional().describe('When the last artifact finished.'),
});

export type Order = ObjectOf<'Order', z.infer<typeof orderSchema>>;
export const orderSchema = z.object({
  spec: spec.default({}).describe('The artifacts to move, and how.'),
  status: status.exactOptional().describe('The observed state.'),
});
