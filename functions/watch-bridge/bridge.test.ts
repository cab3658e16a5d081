import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { serve } from '@hono/node-server';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { steadyClock } from '#shared/base/async';
import { createLogger, createMetrics } from '#shared/base/telemetry';
import {
  arcKinds,
  artifactWorkflows,
  deliveredCondition,
  endpoints,
  orders,
  secrets,
  wakeRefused,
} from '#shared/domain';
import { createApiServer } from '#shared/kubernetes/apiserver';
import { createKubeClient, type KubeClient } from '#shared/kubernetes/client';
import { openEmbeddedStore } from '#shared/kubernetes/storage';
import { clusterKinds } from '#shared/local';
import { artifactWorkflow, endpoint, namespace, order } from '../../shared/domain/testing/objects.ts';
import { type Bridge, type BridgeOptions, startBridge } from './index.ts';

const closers: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** The real API server on a real store, over HTTP. It serves no Argo kinds: the bridge has to do without. */
async function startApi(fetch?: typeof globalThis.fetch): Promise<KubeClient> {
  const folder = await mkdtemp(path.join(tmpdir(), 'arc-bridge-'));
  closers.push(() => rm(folder, { recursive: true, force: true }));
  const store = await openEmbeddedStore({ folder });
  closers.push(() => store.close());
  const api = createApiServer({
    kinds: [...arcKinds, ...clusterKinds.filter(({ kind }) => kind === 'Secret')],
    store,
    authenticate: async () => ({ name: 'test', groups: [] }),
    authorize: async () => ({ allowed: true }),
  });
  const { url, close } = await new Promise<{ url: string; close: () => void }>((resolve) => {
    const server = serve({ fetch: api.app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
      resolve({ url: `http://127.0.0.1:${port}`, close: () => server.close() }),
    );
  });
  closers.push(close, () => api.close());
  return createKubeClient({ server: url, token: () => 'test', userAgent: 'test', fetch });
}

/** A broker that records the events it accepts; `answer` is the status of its answers. */
async function startSink() {
  const sink = {
    answer: 202,
    taken: [] as string[],
    ids: [] as string[],
    headers: [] as IncomingHttpHeaders[],
  };
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const { headers } = request;
      if (sink.answer < 300) {
        sink.taken.push(`${headers['ce-kind']} ${headers['ce-name']} ${headers['ce-step']}`);
        sink.headers.push(headers);
      }
      sink.ids.push(String(headers['ce-id']));
      response.writeHead(sink.answer).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  return { sink, url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`) };
}

async function start(api: KubeClient, url: URL, more: Partial<BridgeOptions> = {}): Promise<Bridge> {
  const control = new AbortController();
  const bridge = startBridge({
    api,
    sink: { url },
    log: createLogger({ name: 'test', level: 'silent' }),
    metrics: createMetrics(),
    signal: control.signal,
    ...more,
  });
  closers.push(async () => {
    control.abort();
    await bridge.done;
  });
  await bridge.synced;
  return bridge;
}

async function took(sink: { taken: string[] }, event: string): Promise<void> {
  await expect
    .poll(() => sink.taken, { timeout: 10_000, message: `the broker takes "${event}"` })
    .toContain(event);
}

/** As a user writes it: without what the server fills in. */
function fresh<T extends { metadata: { uid?: string; generation?: number }; status?: unknown }>(
  object: T,
): T {
  const { status: _status, ...rest } = object;
  const { uid: _uid, generation: _generation, ...metadata } = object.metadata;
  return { ...rest, metadata } as T;
}

const newOrder = () => fresh(order('one', ['a:1']));

/** An Endpoint that nobody has anything to do for. */
async function createSettled(api: KubeClient, given: ReturnType<typeof endpoint>): Promise<void> {
  const { metadata, spec } = await api.create(endpoints, fresh(given));
  const counted = spec.secretRef === undefined ? {} : { secretGeneration: 1 };
  const probed = { generation: metadata.generation, ...counted };
  const lastProbeTime = new Date().toISOString();
  const status = { observedGeneration: metadata.generation, ...counted, probed, lastProbeTime };
  await api.mergePatch(endpoints, metadata, { status }, { subresource: 'status' });
}

describe('the bridge over HTTP', () => {
  it('sends a CloudEvent for a new Order, although Argo is not installed', async () => {
    const api = await startApi();
    const { sink, url } = await startSink();
    const bridge = await start(api, url);
    expect(bridge.ready).toBe(true);
    const made = await api.create(orders, newOrder());
    await took(sink, 'Order one decompose');
    const { uid, resourceVersion } = made.metadata;
    expect(sink.headers[0]).toMatchObject({
      'ce-specversion': '1.0',
      'ce-type': 'cloud.opendefense.arc.step.v1',
      'ce-subject': `${namespace}/one`,
      'ce-uid': uid,
      'ce-partitionkey': uid,
      'ce-step': 'decompose',
      'ce-reason': expect.stringContaining('generation%201'),
      'ce-id': expect.stringContaining(`${uid}/decompose/${uid}/${resourceVersion}/`),
      'ce-traceparent': expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/),
    });
  });

  it('sends at the start what is due, and only that', async () => {
    const api = await startApi();
    await createSettled(api, endpoint('settled'));
    await api.create(endpoints, fresh(endpoint('unseen')));
    await api.create(orders, newOrder());
    const { sink, url } = await startSink();
    await start(api, url);
    await took(sink, 'Order one decompose');
    await took(sink, 'Endpoint unseen track-credentials');
    expect(new Set(sink.taken)).toEqual(
      new Set(['Endpoint unseen track-credentials', 'Order one decompose']),
    );
  });

  it('loses no event while the broker is unavailable, and sends the same event again', async () => {
    const api = await startApi();
    const { sink, url } = await startSink();
    sink.answer = 503;
    const bridge = await start(api, url);
    await api.create(orders, newOrder());
    await expect.poll(() => sink.ids.length, { timeout: 10_000, message: 'two tries' }).toBeGreaterThan(1);
    expect(bridge.depth).toBe(1);
    expect(sink.taken).toEqual([]);
    expect(new Set(sink.ids).size).toBe(1);
    sink.answer = 202;
    await took(sink, 'Order one decompose');
    await expect.poll(() => bridge.depth, { timeout: 10_000, message: 'the queue runs empty' }).toBe(0);
  });

  it('repeats what stays due with new ids, also when the time of day is set back by an hour, and forward', async () => {
    const api = await startApi();
    const { sink, url } = await startSink();
    const bridge = await start(api, url);
    const { now } = Date;
    let correctionMs = 0;
    const timeOfDay = vi.spyOn(Date, 'now').mockImplementation(() => now() + correctionMs);
    closers.push(() => timeOfDay.mockRestore());
    await api.create(orders, newOrder());
    await took(sink, 'Order one decompose');
    const more = async () => {
      const before = sink.taken.length;
      await expect.poll(() => sink.taken.length, { timeout: 10_000 }).toBeGreaterThan(before);
    };
    correctionMs = -3_600_000;
    await more();
    correctionMs = 3_600_000;
    await more();
    expect(steadyClock.now() - bridge.lastTurn()).toBeLessThan(60_000);
    expect(new Set(sink.headers.map((headers) => headers['ce-id'])).size).toBe(sink.taken.length);
  });

  it('holds events back while it may not send', async () => {
    const api = await startApi();
    const { sink, url } = await startSink();
    let allowed = false;
    let asked = 0;
    const maySend = () => {
      asked += 1;
      return allowed;
    };
    await start(api, url, { maySend });
    await api.create(orders, newOrder());
    await expect.poll(() => asked, { timeout: 10_000, message: 'two tries' }).toBeGreaterThan(1);
    expect(sink.ids).toEqual([]);
    allowed = true;
    await took(sink, 'Order one decompose');
  });

  it('sends what is due for an ArtifactWorkflow, and for its Order when it is deleted', async () => {
    const api = await startApi();
    const { sink, url } = await startSink();
    await start(api, url);
    const given = newOrder();
    given.metadata.finalizers = ['arc.opendefense.cloud/children'];
    const made = await api.create(orders, given);
    const child = fresh(artifactWorkflow('child'));
    child.metadata.finalizers = [];
    const { apiVersion, metadata } = made;
    child.metadata.ownerReferences = [
      { apiVersion, kind: 'Order', name: 'one', uid: metadata.uid ?? '', controller: true },
    ];
    await api.create(artifactWorkflows, child);
    await took(sink, 'ArtifactWorkflow child render');
    await api.delete(orders, made.metadata);
    await took(sink, 'Order one decompose');
    await api.delete(artifactWorkflows, child.metadata);
    const before = sink.taken.length;
    await expect.poll(() => sink.taken.slice(before), { timeout: 10_000 }).toContain('Order one decompose');
  });

  it('announces what a status shows, in order and although an answer was lost, and records it', async () => {
    const api = await startApi();
    const { sink, url } = await startSink();
    await start(api, url);
    const made = await api.create(orders, newOrder());
    const counts = { total: 1, invalid: 0, pending: 0, running: 0, succeeded: 1, failed: 0, cancelled: 0 };
    const status = { announced: '', observedGeneration: 1, phase: 'Succeeded', counts };
    sink.answer = 503;
    await api.mergePatch(orders, made.metadata, { status }, { subresource: 'status' });
    const { uid } = made.metadata;
    await expect.poll(() => sink.ids, { timeout: 10_000 }).toContain(`${uid}/1/accepted`);
    sink.answer = 202;
    const told = () =>
      sink.headers.filter((one) => String(one['ce-type']).includes('.order.')).map((one) => one['ce-id']);
    await expect.poll(told, { timeout: 10_000 }).toHaveLength(2);
    expect(told()).toEqual([`${uid}/1/accepted`, expect.stringMatching(/\/completed$/)]);
    await expect
      .poll(async () => (await api.get(orders, made.metadata))?.status?.announced, { timeout: 10_000 })
      .toMatch(/^1\/.*\/completed$/);
    const { status: written } = (await api.get(orders, made.metadata)) ?? {};
    // The next process has nothing to announce.
    const { sink: next, url: there } = await startSink();
    await start(api, there);
    await took(next, 'Order one decompose');
    expect(next.ids.filter((id) => id.endsWith('/accepted') || id.endsWith('/completed'))).toEqual([]);
    expect(written?.phase).toBe('Succeeded');
  });

  it('counts the objects of which report-dead-letter notes that events were refused', async () => {
    const api = await startApi();
    const { url } = await startSink();
    const metrics = createMetrics();
    await api.create(orders, newOrder());
    const { metadata } = await api.create(orders, {
      ...newOrder(),
      metadata: { ...newOrder().metadata, name: 'two' },
    });
    await start(api, url, { metrics });
    const note = (name: string, lastTransitionTime: string) => {
      const refused = { type: deliveredCondition, status: 'False', reason: wakeRefused, message: 'no' };
      const status = { conditions: [{ ...refused, lastTransitionTime }] };
      return api.mergePatch(orders, { ...metadata, name }, { status }, { subresource: 'status' });
    };
    await note('one', '2026-01-01T00:00:00Z');
    await note('two', '2026-01-01T00:00:00Z');
    await note('two', '2026-01-01T00:03:00Z');
    await expect.poll(() => metrics.expose()).toContain('arc_bridge_dead_letters_total{kind="Order"} 3');
    await api.mergePatch(orders, { ...metadata, name: 'one' }, { metadata: { labels: { a: 'b' } } });
    await note('one', '2026-01-01T00:03:00Z');
    await expect.poll(() => metrics.expose()).toContain('arc_bridge_dead_letters_total{kind="Order"} 4');
  });

  it('with watchSecrets, looks at an Endpoint when its Secret is written and requests metadata only', async () => {
    const forms: (string | null)[] = [];
    const api = await startApi((input, init) => {
      const isOurs = init?.method === 'GET' && String(input).includes('/secrets?');
      if (isOurs) forms.push(new Headers(init.headers).get('accept'));
      return globalThis.fetch(input, init);
    });
    const { apiVersion, kind } = secrets;
    const metadata = { namespace, name: 's' };
    await api.create(secrets, { apiVersion, kind, metadata, data: { a: 'YQ==' } });
    const { sink, url } = await startSink();
    await createSettled(api, endpoint('guarded', { secretRef: { name: 's' } }));
    await start(api, url, { watchSecrets: true });
    expect(sink.taken).toEqual([]);
    await api.mergePatch(secrets, metadata, { data: { a: 'Yg==' } });
    await took(sink, 'Endpoint guarded track-credentials');
    expect([...new Set(forms)].toSorted()).toEqual([
      'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
      'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
    ]);
  });
});
