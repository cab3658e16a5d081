import * as z from 'zod';
import { type OrderPhase, orderPhases, type WorkflowPhase, workflowPhases } from '#shared/domain';
import { longestEventDigest, longestEventMessage, longestEventName } from './limits.ts';

const name = (what: string) => z.string().max(longestEventName).describe(what);
const time = (what: string) => z.string().max(35).describe(what).meta({ format: 'date-time' });
const count = (what: string) => z.int().min(0).describe(what);
const message = z
  .string()
  .max(longestEventMessage)
  .describe('The state in a sentence, cut where it is longer.')
  .optional();
const uid = z.string().describe('Uid of the object: a later one of the same name has another.');
const orderPhase = <P extends OrderPhase>(phases: readonly P[]) =>
  z.enum(phases).describe('Phase of the Order.');
const artifactPhase = <P extends WorkflowPhase>(phases: readonly P[]) =>
  z
    .enum(phases)
    .describe('Phase of the ArtifactWorkflow; Active for one on a schedule, whatever becomes of a run.');

const orderData = z.object({
  namespace: name('Namespace of the Order.'),
  name: name('Name of the Order.'),
  uid,
  generation: count('Generation of the spec that this speaks about.'),
  phase: orderPhase(orderPhases),
  message,
  counts: z
    .object({
      total: count('All artifacts.'),
      invalid: count('Those that cannot be moved as they are ordered.'),
      pending: count('Those that wait, for a schedule too.'),
      running: count('Those that are being moved.'),
      succeeded: count('Those that have arrived.'),
      failed: count('Those that have not, and will not by themselves.'),
      cancelled: count('Those that were cancelled before they had finished.'),
    })
    .describe('Its artifacts, each counted once beside the total.'),
  startTime: time('When the first artifact was begun.').optional(),
  completionTime: time('When the last artifact ended.').optional(),
});

const artifactData = z.object({
  namespace: name('Namespace of the ArtifactWorkflow.'),
  name: name('Name of the ArtifactWorkflow.'),
  uid,
  order: z
    .object({ name: name('Its name.'), uid: z.string().describe('Its uid.') })
    .describe('The Order that it is part of; absent for one made by hand.')
    .optional(),
  artifact: name('Name of the artifact in the Order, if it has one; cut where it is longer.').optional(),
  type: name('Type of the artifact; cut where it is longer.').optional(),
  source: name('Name of the Endpoint that it comes from.').optional(),
  destination: name('Name of the Endpoint that it goes to.').optional(),
  attempt: z.int().min(1).describe('Which attempt this is, from 1.'),
  scheduledTime: time('Of a run of a schedule: when it was due.').optional(),
  phase: artifactPhase(workflowPhases),
  message,
  digest: z
    .string()
    .max(longestEventDigest)
    .describe('Digest of what was moved, once it has been.')
    .optional(),
  startTime: time('When the attempt started; absent for a run of a schedule.').optional(),
  completionTime: time('When the attempt ended; absent for a run of a schedule.').optional(),
});

/** The data of an `order.*` event. */
export type OrderEventData = z.infer<typeof orderData>;
/** The data of an `artifact.*` event. */
export type ArtifactEventData = z.infer<typeof artifactData>;

/** The schemas of the data, by the last part of the event type before its version. */
export const domainEventSchemas = {
  'order.accepted': orderData
    .extend({ phase: orderPhase(['Pending', 'Running', 'Suspended', 'Scheduled', 'Cancelled']) })
    .describe('An Order has been looked at in a new generation, and is being worked on.'),
  'order.completed': orderData
    .extend({ phase: orderPhase(['Succeeded']) })
    .describe('All artifacts of an Order have arrived.'),
  'order.failed': orderData
    .extend({ phase: orderPhase(['Failed', 'Scheduled', 'Running']) })
    .describe(
      'All artifacts of an Order, but those on a schedule, have ended, and at least one has failed or is invalid.',
    ),
  'artifact.started': artifactData
    .extend({ phase: artifactPhase(['Running', 'Active']) })
    .describe('An attempt to move an artifact is running.'),
  'artifact.succeeded': artifactData
    .extend({ phase: artifactPhase(['Succeeded', 'Active']) })
    .describe('An artifact has arrived.'),
  'artifact.failed': artifactData
    .extend({ phase: artifactPhase(['Failed', 'Error', 'Stopped', 'Active']) })
    .describe('An artifact has not arrived, and no attempt follows by itself.'),
} satisfies Record<string, z.ZodObject>;

export type DomainEventName = keyof typeof domainEventSchemas;
