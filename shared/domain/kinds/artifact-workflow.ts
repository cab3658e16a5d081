import * as z from 'zod';
import {
  announced,
  conditions,
  cron,
  duration,
  freeObject,
  observedGeneration,
  parameters,
  reference,
  retry,
  workflowTemplateRef,
} from './common.ts';
import type { ObjectOf } from './meta.ts';
import { workflowPhases } from './phases.ts';

/** An Endpoint in the state that an ArtifactWorkflow was made for. */
export type EndpointRef = z.infer<ReturnType<typeof endpointRef>>;
const endpointRef = (what: string) =>
  z
    .object({
      name: z.string().describe('Name of the Endpoint.'),
      generation: z.int().exactOptional().describe('Generation of the Endpoint that this was made for.'),
      digest: z
        .string()
        .exactOptional()
        .describe('Hash of what of the Endpoint moves artifacts: uid, type, remoteURL, tls and secretRef.'),
      secretGeneration: z
        .int()
        .exactOptional()
        .describe('The secretGeneration of the Endpoint that this was made for.'),
    })
    .describe(what);

export type ArtifactWorkflowSpec = z.infer<typeof spec>;
const spec = z.object({
  workflowTemplateRef,
  parameters: parameters.exactOptional(),
  srcSecretRef: reference('The Secret with the credentials of the source. Immutable.').exactOptional(),
  dstSecretRef: reference('The Secret with the credentials of the destination. Immutable.').exactOptional(),
  cron: cron.exactOptional(),
  type: z.string().exactOptional().describe('The type of the artifact. Immutable.'),
  revision: z
    .int()
    .min(1)
    .exactOptional()
    .describe(
      'Rises with each version of an artifact that is put in force; the highest is in force. Immutable.',
    ),
  verify: z
    .enum(['Always', 'OnForce', 'Never'])
    .exactOptional()
    .describe(
      'Why every blob is looked for at the destination: spec.verify of the Order says so (Always), or a force asked for this version (OnForce). Unset trusts a manifest that is there; Never does so in runs that a force asks for, too. Immutable.',
    ),
  srcRef: endpointRef('The source in the state that this was made for. Immutable.').exactOptional(),
  dstRef: endpointRef('The destination in the state that this was made for. Immutable.').exactOptional(),
  artifact: z
    .object({
      name: z.string().exactOptional().describe('Its name in the Order.'),
      spec: freeObject("Its spec, with the type's parameters applied.").exactOptional(),
    })
    .exactOptional()
    .describe('The artifact itself, for the rendered configuration. Immutable.'),
  policies: z
    .array(
      z.object({
        from: z.string().describe('Who enforces it: an Endpoint or the setting enforced.policy.'),
        digest: z.string().describe('SHA-256 of its text.'),
      }),
    )
    .exactOptional()
    .describe('The policies that bind it beside that of its type, as they were when it was made. Immutable.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  ttlAfterFinished: duration('Removed that long after it succeeded; unset keeps it.').exactOptional(),
  ttlAfterFailed: duration('Removed that long after it failed; unset keeps it.').exactOptional(),
  retry: retry.exactOptional(),
  queueName: z.string().exactOptional().describe('The Kueue LocalQueue to wait in.'),
  limitedBy: z
    .array(z.string())
    .exactOptional()
    .describe('Those of its Endpoints whose maxInFlight bounds how many transfers run at once.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  parallelism: z.int().min(1).exactOptional().describe('How many transfers of its Order may run at once.'),
  suspend: z.boolean().exactOptional().describe('True starts no attempt and suspends the CronWorkflow.'),
  cancel: z
    .boolean()
    .exactOptional()
    .describe('True stops what runs and starts nothing: Cancelled until this is taken back.'),
});

export type TransferCounts = z.infer<typeof counts>;
const counts = z.object({
  copied: z.int().exactOptional().describe('Sent to the destination.'),
  existed: z.int().exactOptional().describe('There already.'),
  mounted: z.int().exactOptional().describe('Mounted from another repository of the destination.'),
});

export type TransferItem = z.infer<typeof item>;
const item = z.object({
  source: z.string().describe('What was to be moved.'),
  target: z.string().describe('Where it lands, below the destination.'),
  outcome: z.enum(['copied', 'unchanged', 'failed']).describe('How it ended.'),
  digest: z.string().exactOptional().describe('Its digest.'),
  reason: z.string().exactOptional().describe('Kind of failure.'),
  message: z.string().exactOptional().describe('Why it failed.'),
});

export type TransferItems = z.infer<typeof items>;
const items = z.object({
  total: z.int().describe('Number of items.'),
  copied: z.int().describe('Moved.'),
  unchanged: z.int().describe('There already.'),
  failed: z.int().describe('Not moved.'),
  deleted: z
    .int()
    .exactOptional()
    .describe('Of a folder: deleted at the destination, as the source no longer has them.'),
  list: z
    .array(item)
    .describe('The first of them, failures before others.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
});

/** What the worker reported in the output parameter `result`, cut to bounds. */
export type TransferResults = z.infer<typeof results>;
const results = z.object({
  outcome: z.enum(['succeeded', 'failed']).exactOptional().describe('How the transfer ended.'),
  reason: z
    .string()
    .exactOptional()
    .describe('Kind of failure: retryable, permanent, denied, auth, config or denied-by-policy.'),
  message: z.string().exactOptional().describe('Why the transfer failed, in the words of the worker.'),
  digest: z.string().exactOptional().describe('Digest of what was moved.'),
  mediaType: z.string().exactOptional().describe('Media type of what was moved.'),
  bytes: counts.exactOptional().describe('Bytes by how they got there.'),
  blobs: counts.exactOptional().describe('Blobs by how they got there.'),
  referrers: z.int().exactOptional().describe('Signatures, attestations and SBOMs moved along.'),
  repaired: z
    .object({
      manifests: z.int().exactOptional().describe('Manifests, such as those of platforms.'),
      blobs: z.int().exactOptional().describe('Configs and layers.'),
    })
    .exactOptional()
    .describe('What the destination had lost of an artifact that it had, and got again.'),
  policies: z
    .array(
      z.object({
        from: z.string().describe('Where it comes from: the type, the destination Endpoint or a setting.'),
        digest: z.string().describe('SHA-256 of its text.'),
      }),
    )
    .exactOptional()
    .describe(
      'The policies that were applied: all let pass what succeeded; the message names the policy that denied.',
    )
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  sboms: z
    .array(
      z.object({
        subject: z.string().describe('Digest of the manifest that it describes.'),
        type: z.string().describe('Its media type or predicate type; "report" for a file of the scanner.'),
        digest: z.string().exactOptional().describe('Digest of the blob that has it.'),
      }),
    )
    .exactOptional()
    .describe('The first SBOMs by which the policies let it pass, if they require some.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
  items: items.exactOptional().describe('Of an artifact that stands for several: how each of them ended.'),
  warnings: z
    .array(z.string())
    .exactOptional()
    .describe('Warnings of the worker.')
    .meta({ 'x-kubernetes-list-type': 'atomic' }),
});

/** The current Workflow or CronWorkflow of this object. Written before the Workflow is created, so that no crash loses it. */
export type WorkflowReference = z.infer<typeof workflowRef>;
const workflowRef = z.object({
  kind: z.enum(['Workflow', 'CronWorkflow']).describe('Which kind of Argo object.'),
  name: z.string().describe('Its name.'),
  attempt: z.int().default(1).describe('Which attempt it is, from 1.'),
  rerunAt: z.int().exactOptional().describe('The retry-at or force-at (Unix seconds) it answers.'),
});

export type ArtifactWorkflowStatus = z.infer<typeof status>;
const status = z.object({
  phase: z
    .enum(workflowPhases)
    .exactOptional()
    .describe('Where the attempt in force stands; Active for one on a schedule.'),
  message: z.string().exactOptional().describe('The reason for the phase, in a sentence.'),
  startTime: z.string().exactOptional().describe('When the attempt started.'),
  completionTime: z.string().exactOptional().describe('When the attempt ended.'),
  lastScheduled: z.string().exactOptional().describe('When the schedule last started a run.'),
  succeeded: z.int().exactOptional().describe('Runs of the schedule that succeeded.'),
  failed: z.int().exactOptional().describe('Runs of the schedule that failed.'),
  activeWorkflowRef: reference('The run of the schedule that is under way.').exactOptional(),
  configSecret: reference('The Secret with the rendered configuration, while it is needed.').exactOptional(),
  configMessage: z.string().exactOptional().describe('Why there is no configuration yet.'),
  configReason: z.string().exactOptional().describe('The same in one word, as docs/status.md lists them.'),
  waitMessage: z.string().exactOptional().describe('What it waits for before its next attempt can start.'),
  waitReason: z.string().exactOptional().describe('The same in one word, as docs/status.md lists them.'),
  workflowRef: workflowRef
    .exactOptional()
    .describe('The Argo object of the attempt in force; written before that is created.'),
  attempts: z.int().exactOptional().describe('Attempts so far.'),
  syncedAttempt: z
    .int()
    .exactOptional()
    .describe(
      'The attempt that phase, message and results describe; 0 if it was cancelled before the first.',
    ),
  stopSince: z
    .string()
    .exactOptional()
    .describe('When submit-workflow began to stop what runs, or to wait for the pods of what was stopped.'),
  nextAttemptTime: z.string().exactOptional().describe('When the next attempt is due.'),
  progress: z.string().exactOptional().describe('n/m of the work; never falls.'),
  results: results.exactOptional().describe('What the worker reported.'),
  announced,
  conditions: conditions.exactOptional(),
  observedGeneration,
});

export type ArtifactWorkflow = ObjectOf<'ArtifactWorkflow', z.infer<typeof artifactWorkflowSchema>>;
export const artifactWorkflowSchema = z.object({
  spec: spec.describe('One artifact to move. Fields that define the transfer are immutable.'),
  status: status.exactOptional().describe('The observed state.'),
});
