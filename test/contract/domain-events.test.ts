import { readFile } from 'node:fs/promises';
import { serve } from '@hono/node-server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod';
import type { KubeObject } from '#shared/base/meta';
import {
  dataSchemaOf,
  domainEventNames,
  domainEventSchemas,
  domainEventType,
  eventSource,
  stepEvent,
  toBinaryRequest,
} from '#shared/conduit/events';
import {
  artifactWorkflows,
  conduitNamespace,
  orders,
  rootUid,
  stepNames,
  steps,
  type Workflow,
  workflows,
} from '#shared/domain';
import type { KubeClient } from '#shared/kubernetes/client';
import type { Manifest } from '#shared/local';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { namespace, order } from '../../shared/domain/testing/objects.ts';
import {
  type Api,
  fresh,
  prepareForOrders,
  startApi,
  startFunctions,
  startWatching,
} from '../fixtures/standalone/parts.ts';

interface Heard {
  id: string;
  type: string;
  data: unknown;
}

/** Somebody outside who has subscribed to all of them with one Trigger. */
async function startSubscriber(): Promise<{ heard: Heard[]; trigger: Manifest }> {
  const heard: Heard[] = [];
  const fetch = async (request: Request) => {
    const [id = '', type = ''] = ['ce-id', 'ce-type'].map((name) => request.headers.get(name) ?? '');
    heard.push({ id, type, data: await request.json() });
    return new Response(null, { status: 204 });
  };
  const uri = await new Promise<string>((resolve) => {
    const server = serve({ fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
      resolve(`http://127.0.0.1:${port}`),
    );
    onTestFinished(() => void server.close());
  });
  const prefixes = ['order', 'artifact'].map((noun) => ({
    prefix: { type: `cloud.opendefense.arc.${noun}.` },
  }));
  const trigger = {
    apiVersion: 'eventing.knative.dev/v1',
    kind: 'Trigger',
    metadata: { name: 'subscriber', namespace: conduitNamespace },
    spec: { broker: 'arc', filters: [{ exact: { namespace } }, { any: prefixes }], subscriber: { uri } },
  };
  return { heard, trigger };
}

/** Everything but what a Workflow is made to say. */
async function startParts() {
  const api: Api = await startApi();
  const admin = api.clientOf('admin');
  await prepareForOrders(admin);
  const { heard, trigger } = await startSubscriber();
  const { sink, depth } = await startFunctions(api, { more: [trigger] });
  startWatching(api, sink);
  const names = () =>
    heard.map(({ type }) => type.replace(/^cloud\.opendefense\.arc\.(.*)\.v1$/, '$1')).sort();
  const toHear = (what: string, expected: string[]) =>
    eventually(what, 15_000, () => expect(names()).toEqual(expected.toSorted()));
  return { admin, heard, names, toHear, sink, depth };
}

async function sayOfWorkflows(admin: KubeClient, count: number, status: Workflow['status']): Promise<void> {
  const list = async () => (await admin.list(workflows, { namespace })).items;
  await eventually(`${count} Workflows`, 15_000, async () => expect((await list()).length).toBe(count));
  for (const { metadata } of await list()) await admin.mergePatch(workflows, metadata, { status });
}

/** As brokers and the bridge may: the same again, for every step that there is. */
async function deliverAgain(sink: URL, objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects)
    for (const step of stepNames.filter((each) => steps[each].kinds.some((kind) => kind === object.kind))) {
      const { apiVersion, kind, metadata } = object;
      const { name, uid = '', resourceVersion = '' } = metadata;
      const about = { apiVersion, kind, namespace, name, uid };
      const cause = { object: about, observed: { ...about, resourceVersion }, step, reason: 'again' };
      const event = stepEvent({ ...cause, partitionKey: rootUid(object), time: new Date() });
      const { status } = await fetch(sink, { method: 'POST', ...toBinaryRequest(event) });
      expect(status).toBe(202);
    }
}

describe('a subscriber', () => {
  it('gets each step of an Order once, also when steps are delivered twice', async () => {
    const { admin, heard, names, toHear, sink, depth } = await startParts();
    await admin.create(orders, fresh(order('one', ['a:1', 'b:1'])));
    const begun = ['order.accepted', 'artifact.started', 'artifact.started'];
    await sayOfWorkflows(admin, 2, { phase: 'Running', startedAt: '2026-01-01T00:00:00Z' });
    await toHear('that both artifacts are on their way', begun);
    await sayOfWorkflows(admin, 2, { phase: 'Succeeded', finishedAt: '2026-01-01T00:01:00Z' });
    const all = [...begun, 'artifact.succeeded', 'artifact.succeeded', 'order.completed'];
    await toHear('that the Order is complete', all);

    const objects = [
      ...(await admin.list(orders, { namespace })).items,
      ...(await admin.list(artifactWorkflows, { namespace })).items,
    ];
    expect(objects.length).toBe(3);
    await deliverAgain(sink, objects);
    await deliverAgain(sink, objects);
    await eventually('nothing to be under way', 15_000, () => expect(depth()).toBe(0));
    expect(names()).toEqual(all.toSorted());

    await admin.delete(orders, { namespace, name: 'one' });
    await eventually('the Order to be gone', 15_000, async () =>
      expect((await admin.list(orders, { namespace })).items).toEqual([]),
    );
    await eventually('nothing to be under way', 15_000, () => expect(depth()).toBe(0));
    expect(names()).toEqual(all.toSorted());
    expect(new Set(heard.map(({ id }) => id)).size).toBe(all.length);
    for (const name of domainEventNames)
      for (const { data } of heard.filter(({ type }) => type === domainEventType(name)))
        domainEventSchemas[name].strict().parse(data);
  });

  it('gets an event when an artifact fails, and one when its Order fails', async () => {
    const { admin, heard, toHear } = await startParts();
    await admin.create(orders, fresh(order('one', ['a:1'])));
    await toHear('that the Order is accepted', ['order.accepted']);
    const message = 'the registry answered 401';
    await sayOfWorkflows(admin, 1, { phase: 'Failed', message, finishedAt: '2026-01-01T00:01:00Z' });
    await toHear('both failures', ['order.accepted', 'artifact.failed', 'order.failed']);
    for (const { data } of heard.filter(({ type }) => type.includes('failed')))
      expect(data).toMatchObject({ phase: 'Failed', message: expect.stringContaining(message) });
  }, 60_000);
});

const eventType = z.strictObject({
  apiVersion: z.literal('eventing.knative.dev/v1beta3'),
  kind: z.literal('EventType'),
  metadata: z.looseObject({ name: z.string(), namespace: z.string() }),
  spec: z.strictObject({
    reference: z.object({
      apiVersion: z.literal('eventing.knative.dev/v1'),
      kind: z.literal('Broker'),
      name: z.string(),
      namespace: z.string(),
    }),
    description: z.string(),
    attributes: z.array(
      z.strictObject({ name: z.string(), required: z.boolean(), value: z.string().optional() }),
    ),
  }),
});

describe('the EventTypes in knative/base', () => {
  it('are one for each domain event, with the description of its schema', async () => {
    const text = await readFile('knative/base/broker/event-types.yaml', 'utf8');
    const found = parseAllDocuments(text).map((document) => eventType.parse(document.toJS()));
    expect(found.map(({ metadata, spec }) => ({ metadata, spec }))).toEqual(
      domainEventNames.map((name) => ({
        metadata: {
          name: domainEventType(name),
          namespace: conduitNamespace,
          labels: { 'app.kubernetes.io/part-of': 'arc' },
        },
        spec: {
          reference: {
            apiVersion: 'eventing.knative.dev/v1',
            kind: 'Broker',
            name: 'arc',
            namespace: conduitNamespace,
          },
          description: domainEventSchemas[name].description,
          // In the order and with the flags that Knative gives them back with.
          attributes: [
            { name: 'specversion', required: true },
            { name: 'id', required: true },
            { name: 'type', required: true, value: domainEventType(name) },
            { name: 'source', required: true, value: eventSource },
            { name: 'schemadata', required: false, value: dataSchemaOf(name) },
          ],
        },
      })),
    );
  });
});
