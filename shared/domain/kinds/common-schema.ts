import * as z from 'zod';

/** Schemas that several kinds share. Every field says what it is for: `kubectl explain` prints it. */

export const reference = (what: string) =>
  z.object({ name: z.string().describe('Name of the object, in the same namespace.') }).describe(what);

export const duration = (what: string) =>
  z.string().describe(`${what} A Go duration such as 90s, 1h30m or 0.`);

export const cron = z
  .object({
    schedules: z
      .array(z.string())
      .describe('When to run, as five cron fields or a descriptor such as @daily. At least one.')
      .meta({ 'x-kubernetes-list-type': 'atomic' }),
    timezone: z
      .string()
      .optional()
      .describe('IANA name of the time zone the schedules are meant in. Default UTC.'),
    startingDeadlineSeconds: z
      .int()
      .min(0)
      .optional()
      .describe('How many seconds late a missed run may still start.'),
    when: z.string().optional().describe("Argo's condition for a run to take place."),
  })
  .describe('Runs again and again instead of once.');

export const retry = z
  .object({
    limit: z
      .int()
      .min(0)
      .max(100)
      .optional()
      .describe('How many further attempts may follow the first. Default 0.'),
    backoff: duration(
      'Wait before the first further attempt, doubled for each after it, at most 1h. Default 10s.',
    ).optional(),
  })
  .describe('What to do after a failed attempt. Failures that another attempt cannot help are not retried.');

export const parameters = z
  .array(
    z.object({
      name: z.string().describe('Name of the parameter: letters, digits, - and _.'),
      value: z.string().describe('Its value.'),
    }),
  )
  .describe('Inputs of the workflow template.')
  .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] });

export const workflowTemplateRef = z
  .object({
    name: z.string().describe('Name of the WorkflowTemplate or ClusterWorkflowTemplate.'),
    clusterScope: z.boolean().optional().describe('True for a ClusterWorkflowTemplate.'),
  })
  .describe('The Argo template that does the work.');

export const conditions = z
  .array(
    z.object({
      type: z.string().describe('Which aspect this is about.'),
      status: z.enum(['True', 'False', 'Unknown']).describe('Whether it holds.'),
      reason: z.string().describe('One word for machines.'),
      message: z.string().describe('A sentence for people.'),
      lastTransitionTime: z.string().describe('When the status last changed.'),
      observedGeneration: z.int().optional().describe('The generation of the spec this speaks about.'),
    }),
  )
  .describe('What holds at present, kstatus-conformant.')
  .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] });

export const freeObject = (what: string) =>
  z.record(z.string(), z.unknown()).describe(what).meta({ 'x-kubernetes-preserve-unknown-fields': true });

export const observedGeneration = z
  .int()
  .optional()
  .describe('The generation of the spec that this status was computed from.');
