import * as z from 'zod';
import type { KindDefinition, KubeObject } from '#shared/kubernetes/apiserver';

const text = z.string().nullish();
const reference = z.object({
  apiVersion: text,
  kind: text,
  namespace: text,
  name: text,
  uid: text,
  resourceVersion: text,
  fieldPath: text,
});
type Reference = z.infer<typeof reference>;

/** core/v1 Event, with the field selectors that `kubectl describe` and `kubectl events --for` use. */
export const events: KindDefinition = {
  group: '',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  singular: 'event',
  shortNames: ['ev'],
  scope: 'Namespaced',
  description: 'Event is a report of something that happened to an object. Events are kept for an hour.',
  schema: z.object({
    involvedObject: reference.describe('The object it is about.'),
    reason: text.describe('Why, as one word for programs.'),
    message: text.describe('What happened, for people.'),
    source: z.object({ component: text, host: text }).nullish(),
    firstTimestamp: text,
    lastTimestamp: text,
    count: z.int().nullish(),
    type: text.describe('Normal or Warning.'),
    eventTime: text,
    series: z.object({ count: z.int().nullish(), lastObservedTime: text }).nullish(),
    action: text,
    related: reference.nullish(),
    reportingComponent: text,
    reportingInstance: text,
  }),
  status: false,
  // As the printer of kube-apiserver has them (kubernetes, pkg/printers/internalversion): the name comes last, and there is no age.
  columns: [
    { name: 'Last Seen', type: 'date', description: 'When it happened last.', value: lastSeen },
    { name: 'Type', type: 'string', description: 'Normal or Warning.', value: (event) => shown(event.type) },
    { name: 'Reason', type: 'string', description: 'Why.', value: (event) => shown(event.reason) },
    { name: 'Object', type: 'string', description: 'What it is about.', value: aboutText },
    {
      name: 'Subobject',
      type: 'string',
      description: 'Which part of it.',
      priority: 1,
      value: (event) => about(event).fieldPath,
    },
    { name: 'Source', type: 'string', description: 'Who says so.', priority: 1, value: source },
    {
      name: 'Message',
      type: 'string',
      description: 'What happened.',
      value: (event) => shown(event.message).trim(),
    },
    {
      name: 'First Seen',
      type: 'date',
      description: 'When it happened first.',
      priority: 1,
      value: firstSeen,
    },
    { name: 'Count', type: 'integer', description: 'How often.', priority: 1, value: times },
    {
      name: 'Name',
      type: 'string',
      description: 'Of the Event itself.',
      priority: 1,
      value: ({ metadata }) => metadata.name,
    },
  ],
  selectableFields: {
    ...Object.fromEntries(
      Object.keys(reference.shape).map((name) => [
        `involvedObject.${name}`,
        (object: KubeObject) => shown(about(object)[name as keyof Reference]),
      ]),
    ),
    reason: (object) => shown(object.reason),
    type: (object) => shown(object.type),
    source: (object) => source(object),
    reportingComponent: (object) => shown(object.reportingComponent),
  },
};

/** When an Event happened last, ISO; its creation when it does not say. */
export function lastSeen(event: KubeObject): string | undefined {
  const { series, lastTimestamp, eventTime } = event as {
    series?: { lastObservedTime?: string } | null;
  } & KubeObject;
  const said = series?.lastObservedTime ?? lastTimestamp ?? eventTime;
  return typeof said === 'string' ? said : event.metadata.creationTimestamp;
}

function firstSeen(event: KubeObject): string | undefined {
  const said = shown(event.firstTimestamp) || shown(event.eventTime);
  return said || event.metadata.creationTimestamp;
}

function about(event: KubeObject): Reference {
  return (event.involvedObject ?? {}) as Reference;
}

function aboutText(event: KubeObject): string {
  const { kind, name } = about(event);
  return `${(kind ?? '').toLowerCase()}/${name ?? ''}`;
}

function source(event: KubeObject): string {
  const component = (event.source as { component?: string } | null | undefined)?.component;
  return component || shown(event.reportingComponent);
}

function times(event: KubeObject): number {
  const series = event.series as { count?: number } | null | undefined;
  return series?.count ?? (typeof event.count === 'number' ? event.count : 1);
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
