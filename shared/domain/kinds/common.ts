import * as z from 'zod';
import type { Json } from '#shared/base/meta';

/**
 * Parts that several kinds share: the schema and the type inferred from it. `kubectl explain` and OpenAPI print the
 * description of every field. An optional field is `exactOptional`: absent or set, never undefined (docs/decisions/0005-zod-kinds.md).
 */

/** Another object in the same namespace. */
export type Reference = z.infer<ReturnType<typeof reference>>;
export const reference = (what: string) =>
  z.object({ name: z.string().describe('Name of the object in the same namespace.') }).describe(what);

/** A Go duration such as `1h30m`, `90s` or `0`. */
export type Duration = z.infer<ReturnType<typeof duration>>;
export const duration = (what: string) =>
  z.string().describe(`${what} A Go duration such as 90s, 1h30m or 0, at most ten years.`);

/** A schedule; fields as in Argo's CronWorkflow. */
export type Cron = z.infer<typeof cron>;
export const cron = z
  .object({
    schedules: z
      .array(z.string())
      .describe('When to run, as five cron fields or a descriptor such as @daily. One to ten.')
      .meta({ 'x-kubernetes-list-type': 'atomic' }),
    timezone: z
      .string()
      .exactOptional()
      .describe('IANA name of the time zone of the schedules. Default UTC.'),
    startingDeadlineSeconds: z
      .int()
      .min(0)
      .exactOptional()
      .describe('How many seconds late a missed run may still start.'),
    when: z
      .string()
      .exactOptional()
      .describe(
        "Argo's condition for a run to take place: {{= … }} with comparisons of cronworkflow.failed, .succeeded and .lastScheduledTime.",
      ),
  })
  .describe('Runs on a schedule instead of once.');

/** `limit`: attempts after the first. `backoff`: wait before the second attempt, doubled for each further attempt. */
export type RetryPolicy = z.infer<typeof retry>;
export const retry = z
  .object({
    limit: z
      .int()
      .min(0)
      .max(100)
      .exactOptional()
      .describe(
        'How many further attempts may follow the first. Default 2 after a failure that the worker calls retryable, else 0.',
      ),
    backoff: duration(
      'Wait before the first further attempt, doubled for each after it, at most 1h. Default 10s.',
    ).exactOptional(),
  })
  .describe('What to do after a failed attempt. Failures that another attempt cannot help are not retried.');

/** One input of a workflow template; values are always strings (Argo's rule). */
export type Parameter = z.infer<typeof parameter>;
const parameter = z.object({
  name: z.string().describe('Name of the parameter: letters, digits, - and _.'),
  value: z.string().describe('Its value.'),
});

export const parameters = z
  .array(parameter)
  .describe('Inputs of the workflow template.')
  .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] });

export type WorkflowTemplateRef = z.infer<typeof workflowTemplateRef>;
export const workflowTemplateRef = z
  .object({
    name: z.string().describe('Name of the WorkflowTemplate or ClusterWorkflowTemplate.'),
    clusterScope: z.boolean().exactOptional().describe('True for a ClusterWorkflowTemplate.'),
  })
  .describe('The Argo template that does the work.');

/** As metav1.Condition; `observedGeneration` is the generation of the spec that the condition describes (kstatus). */
export type Condition = z.infer<typeof condition>;
const condition = z.object({
  type: z.string().describe('The aspect that this condition describes.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether it holds.'),
  reason: z.string().describe('One word for machines.'),
  message: z.string().default('').describe('A sentence for people.'),
  lastTransitionTime: z.string().describe('When the status last changed.'),
  observedGeneration: z
    .int()
    .exactOptional()
    .describe('The generation of the spec that this condition describes.'),
});

export const conditions = z
  .array(condition)
  .describe('The present state, as kstatus reads it.')
  .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] });

// Objects of the API are parsed from JSON, so a field without a schema holds a JSON value.
const json = z.unknown() as z.ZodType<Json>;

/** An object with any fields. */
export const freeObject = (what: string) =>
  z.record(z.string(), json).describe(what).meta({ 'x-kubernetes-preserve-unknown-fields': true });

export const announced = z
  .string()
  .exactOptional()
  .describe('The last milestone that subscribers were told of: the end of the id of its event.');

export const observedGeneration = z
  .int()
  .exactOptional()
  .describe('The generation of the spec that this status was computed from.');
