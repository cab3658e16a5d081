import * as z from 'zod';
import { ArcError } from '#shared/base/errors';
import type { Manifest } from '../rbac/manifests.ts';
import { parseDuration } from './duration.ts';
import type { Filter } from './filter.ts';

/** The destination of events: an addressable object, an absolute URI, or a path on the object. */
export interface Destination {
  ref?: { apiVersion?: string | undefined; kind: string; name: string; namespace: string };
  uri?: string;
}

/** The retry policy of deliveries; times in milliseconds. */
export interface Delivery {
  retry: number;
  backoffPolicy: 'exponential' | 'linear';
  backoffDelayMs: number;
  /** Timeout of one attempt; undefined: the broker's own. */
  timeoutMs: number | undefined;
  deadLetterSink: Destination | undefined;
}

export interface Trigger {
  name: string;
  namespace: string;
  /** All of them must match; an empty list matches every event. */
  filters: readonly Filter[];
  subscriber: Destination;
  delivery: Delivery;
}

const attributes = z.record(z.string(), z.string());
const filter: z.ZodType<Filter> = z.lazy(() =>
  z.union([
    z.strictObject({ exact: attributes }),
    z.strictObject({ prefix: attributes }),
    z.strictObject({ suffix: attributes }),
    z.strictObject({ all: z.array(filter) }),
    z.strictObject({ any: z.array(filter) }),
    z.strictObject({ not: filter }),
  ]),
);
const destination = z.object({
  ref: z
    .object({
      apiVersion: z.string().optional(),
      kind: z.string(),
      name: z.string(),
      namespace: z.string().optional(),
    })
    .optional(),
  uri: z.string().optional(),
});
const delivery = z.object({
  retry: z.int().min(0).default(0),
  backoffPolicy: z.enum(['exponential', 'linear']).default('exponential'),
  backoffDelay: z.string().default('PT0.2S'),
  timeout: z.string().optional(),
  deadLetterSink: destination.optional(),
});
const metadata = z.object({ name: z.string(), namespace: z.string().default('default') });
const triggerManifest = z.object({
  metadata,
  spec: z.object({
    broker: z.string(),
    filter: z.object({ attributes: attributes.optional() }).optional(),
    filters: z.array(filter).optional(),
    subscriber: destination,
    delivery: delivery.optional(),
  }),
});
const brokerManifest = z.object({ metadata, spec: z.object({ delivery: delivery.optional() }).optional() });

// The defaults that config-br-defaults of a Knative installation gives to a Broker.
const installDefault = { retry: 10, backoffPolicy: 'exponential', backoffDelay: 'PT0.2S' } as const;

/**
 * Returns the Triggers in these manifests, each with its effective delivery: its own as a whole, else that of its Broker (if the Broker
 * is among the manifests), else that of a default installation. Other kinds are skipped. Throws Invalid, naming the object
 * and the field.
 */
export function parseTriggers(manifests: readonly Manifest[]): Trigger[] {
  const objects = manifests.filter(({ apiVersion }) => apiVersion.startsWith('eventing.knative.dev/'));
  const brokers = new Map(
    objects
      .filter((one) => one.kind === 'Broker')
      .map((one) => parsed(brokerManifest, one))
      .map((one) => [`${one.metadata.namespace}/${one.metadata.name}`, one.spec?.delivery] as const),
  );
  return objects
    .filter((one) => one.kind === 'Trigger')
    .map((one) => {
      const { metadata: meta, spec } = parsed(triggerManifest, one);
      const legacy: Filter[] = spec.filter?.attributes
        ? [{ exact: withoutEmpty(spec.filter.attributes) }]
        : [];
      const chosen = spec.delivery ?? brokers.get(`${meta.namespace}/${spec.broker}`) ?? installDefault;
      return {
        name: meta.name,
        namespace: meta.namespace,
        filters: spec.filters && spec.filters.length > 0 ? spec.filters : legacy,
        subscriber: destinationOf(spec.subscriber, meta.namespace),
        delivery: deliveryOf(delivery.parse(chosen), meta),
      };
    });
}

function parsed<T>(schema: z.ZodType<T>, object: Manifest): T {
  const result = schema.safeParse(object);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new ArcError(
    'Invalid',
    `${object.kind} ${object.metadata.name}: ${issue?.path.join('.')}: ${issue?.message}`,
  );
}

// In the legacy filter an empty value matches any value, and an absent attribute as well.
function withoutEmpty(wanted: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== ''));
}

function destinationOf(given: z.infer<typeof destination>, namespace: string): Destination {
  return {
    ...(given.ref && { ref: { ...given.ref, namespace: given.ref.namespace ?? namespace } }),
    ...(given.uri !== undefined && { uri: given.uri }),
  };
}

function deliveryOf(given: z.infer<typeof delivery>, meta: { name: string; namespace: string }): Delivery {
  const field = (name: string) => `Trigger ${meta.name}: spec.delivery.${name}`;
  return {
    retry: given.retry,
    backoffPolicy: given.backoffPolicy,
    backoffDelayMs: parseDuration(given.backoffDelay, field('backoffDelay')),
    timeoutMs: given.timeout === undefined ? undefined : parseDuration(given.timeout, field('timeout')),
    deadLetterSink: given.deadLetterSink && destinationOf(given.deadLetterSink, meta.namespace),
  };
}
