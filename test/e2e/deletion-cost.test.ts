import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eachBounded } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { timeoutOf } from '#shared/base/testing';
import type { Context, StepEvent } from '#shared/conduit/runtime';
import { artifactWorkflows, finalizers, labels, namespaces, type Order, orders } from '#shared/domain';
import { cacheStore } from '#shared/kubernetes/storage';
import { functions } from '../../scripts/standalone/functions.ts';
import { contextOf, eventOf } from '../../shared/conduit/runtime/testing/handler-context.ts';
import { artifactWorkflow, namespace, order } from '../../shared/domain/testing/objects.ts';
import { FakeApi } from '../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { countStore, type StoreCount } from '../fixtures/counted-store.ts';
import { startApi, type TestApi } from '../fixtures/standalone/api-server.ts';

const completionTime = '2026-01-01T00:01:00Z';
const digest = `sha256:${'a'.repeat(64)}`;

/** The real API server over a cache, as it stands before etcd: what is counted is what etcd would be asked for. */
let api: TestApi;
let count: StoreCount;
let context: Context;
beforeAll(async () => {
  api = await startApi({
    wrapStore(store) {
      const counted = countStore(store);
      count = counted.count;
      return cacheStore(counted.store, { prefix: '/' });
    },
  });
  context = { ...contextOf(new FakeApi([])), api: api.admin };
  await api.admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
});
afterAll(() => api[Symbol.asyncDispose]());

/** Several at a time; rejects with the first failure. */
async function each(names: readonly string[], work: (name: string) => Promise<void>) {
  const [first] = await eachBounded(names, 4, work);
  if (first !== undefined) throw ArcError.from(first.error);
}

/** An Order of so many artifacts all of which have succeeded, as its status says; with the names of its ArtifactWorkflows. */
async function succeeded(artifacts: number): Promise<{ made: Order; names: string[] }> {
  const { admin } = api;
  const name = `order-${artifacts}`;
  const images = Array.from({ length: artifacts }, (_, index) => `team/app-${index}:1.0`);
  const { apiVersion, kind, spec } = order(name, images);
  const made = await admin.create<Order>(orders, {
    apiVersion,
    kind,
    spec,
    metadata: { name, namespace, finalizers: [finalizers.children] },
  });
  const { uid = '' } = made.metadata;
  const keys = images.map((_, index) => index.toString(16).padStart(16, '0'));
  const names = keys.map((key) => `${name}-${key}`);
  const ownerReferences = [{ apiVersion, kind, name, uid, controller: true }];
  await each(names, async (child) => {
    const about = { labels: { [labels.order]: uid }, finalizers: [finalizers.workflow], ownerReferences };
    const made = artifactWorkflow(child);
    const object = {
      ...made,
      metadata: { name: child, namespace, ...about },
      spec: { ...made.spec, ttlAfterFinished: '0s' },
    };
    await admin.create(artifactWorkflows, object);
    const status = { phase: 'Succeeded', completionTime, results: { digest } };
    await admin.mergePatch(artifactWorkflows, object.metadata, { status }, { subresource: 'status' });
  });
  const entries = keys.map((key, artifactIndex) => [
    key,
    { artifactIndex, phase: 'Succeeded', completionTime, digest },
  ]);
  const status = { phase: 'Succeeded', artifactWorkflows: Object.fromEntries(entries) };
  await admin.mergePatch(orders, made.metadata, { status }, { subresource: 'status' });
  return { made, names };
}

/** As the broker does it, which tries again what a busy machine had no time for. */
async function deliver(name: string, event: StepEvent): Promise<void> {
  for (;;)
    try {
      await functions[name]?.handle(context, event);
      return;
    } catch (caught) {
      if (!ArcError.is(caught, 'ServiceUnavailable')) throw caught;
    }
}

type Made = Awaited<ReturnType<typeof succeeded>>;

async function deleted({ made, names }: Made): Promise<void> {
  await api.admin.delete(orders, made.metadata);
  await deliver('decompose-order', eventOf(made));
  await each(names, (name) => deliver('submit-workflow', eventOf(artifactWorkflow(name))));
  await deliver('decompose-order', eventOf(made));
  expect(await api.admin.get(orders, made.metadata)).toBeUndefined();
}

async function expired({ made, names }: Made): Promise<void> {
  await each(names, async (name) => {
    const child = artifactWorkflow(name);
    await deliver('expire-objects', eventOf(child));
    await deliver('submit-workflow', eventOf(child));
    expect(await api.admin.get(artifactWorkflows, child.metadata)).toBeUndefined();
  });
  await api.admin.delete(orders, made.metadata);
}

/** What it costs for each artifact that an Order of so many goes, or all that it has made. */
async function costOf(artifacts: number, end: (made: Made) => Promise<void>): Promise<StoreCount> {
  const all = await succeeded(artifacts);
  const before = { ...count };
  await end(all);
  const of = (what: keyof StoreCount) => (count[what] - before[what]) / artifacts;
  return { writes: of('writes'), bytes: of('bytes'), reads: of('reads'), bytesRead: of('bytesRead') };
}

describe('whatever goes', () => {
  it.each([
    ['an Order', deleted],
    ['what an Order has made, when its time to live is over', expired],
  ])(
    'costs each artifact the same, however many there are: %s',
    {
      timeout: timeoutOf(240_000),
    },
    async (_, end) => {
      const [few, many] = [await costOf(50, end), await costOf(200, end)];
      for (const what of ['writes', 'bytes', 'reads', 'bytesRead'] as const) {
        const figures = `${what}: ${JSON.stringify([few, many])}`;
        expect(many[what] / few[what], figures).toBeLessThan(1.5);
      }
    },
  );
});
