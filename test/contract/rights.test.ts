import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { serve } from '@hono/node-server';
import { afterEach, describe, expect, it } from 'vitest';
import {
  artifactWorkflows,
  clusterArtifactTypes,
  clusterWorkflowTemplates,
  conduitNamespace,
  endpoints,
  events,
  namespaces,
  orders,
  secrets,
  workflows,
} from '#shared/domain';
import {
  clusterKinds,
  type Destination,
  loadManifests,
  manifestFiles,
  parseTriggers,
  rbacAuthorizer,
  startBroker,
} from '#shared/embedded';
import { ArcError } from '#shared/errors';
import { createKubeClient, type KubeClient } from '#shared/kube';
import { type Fn, serveFunction } from '#shared/runtime';
import { openEmbeddedStore } from '#shared/storage';
import { createLogger, createMetrics } from '#shared/telemetry';
import { createArcApiServer } from '../../functions/api-server/index.ts';
import * as decomposeOrder from '../../functions/decompose-order/index.ts';
import * as renderSecret from '../../functions/render-secret/index.ts';
import * as reportDeadLetter from '../../functions/report-dead-letter/index.ts';
import * as rollUpOrder from '../../functions/roll-up-order/index.ts';
import * as submitWorkflow from '../../functions/submit-workflow/index.ts';
import * as syncStatus from '../../functions/sync-status/index.ts';
import * as trackCredentials from '../../functions/track-credentials/index.ts';
import { startBridge } from '../../functions/watch-bridge/index.ts';
import { endpoint, namespace, ociTemplate, ociType, order, secret } from '../fixtures/arc-objects.ts';

const functions: Record<string, Fn> = {
  'decompose-order': decomposeOrder,
  'render-secret': renderSecret,
  'report-dead-letter': reportDeadLetter,
  'roll-up-order': rollUpOrder,
  'submit-workflow': submitWorkflow,
  'sync-status': syncStatus,
  'track-credentials': trackCredentials,
};
const log = createLogger({ name: 'test', level: 'silent' });
const closers: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** The API server with the rights of knative/base; a token is the name of its user. */
async function startApi(): Promise<(user: string) => KubeClient> {
  const folder = await mkdtemp(path.join(tmpdir(), 'arc-rights-'));
  closers.push(() => rm(folder, { recursive: true, force: true }));
  const store = await openEmbeddedStore({ folder });
  closers.push(() => store.close());
  const api = createArcApiServer({
    store,
    extraKinds: clusterKinds,
    authenticate: async (request) => {
      const name = request.headers.get('authorization')?.replace('Bearer ', '') ?? '';
      const account = `system:serviceaccount:${conduitNamespace}:${name}`;
      return name === 'admin' ? { name, groups: ['system:masters'] } : { name: account, groups: [] };
    },
    authorize: rbacAuthorizer(await loadManifests('knative/base')),
  });
  const url = await new Promise<string>((resolve) => {
    const server = serve({ fetch: api.app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
      resolve(`http://127.0.0.1:${port}`),
    );
    closers.push(() => server.close());
  });
  closers.push(() => api.close());
  return (user) => createKubeClient({ server: url, token: () => user, userAgent: user });
}

/** Every function behind its HTTP server under its own name, and a broker wired from the Triggers of knative/base. */
async function startFunctions(clientOf: (user: string) => KubeClient, instead: Record<string, Fn> = {}) {
  const denied: string[] = [];
  const urls = new Map<string, URL>();
  for (const [name, fn] of Object.entries({ ...functions, ...instead })) {
    const handle: Fn['handle'] = async (context, wake) => {
      try {
        return await fn.handle(context, wake);
      } catch (caught) {
        if (ArcError.is(caught, 'Forbidden')) denied.push(`${name}: ${caught.message}`);
        throw caught;
      }
    };
    const served = await serveFunction({ handle }, { name, port: 0, api: clientOf(name), log, env: {} });
    closers.push(() => served.close());
    urls.set(name, new URL(served.url));
  }
  const texts = await Promise.all(
    (await manifestFiles('knative/base')).map((file) => readFile(file, 'utf8')),
  );
  const resolve = (to: Destination) => urls.get(to.ref?.name ?? '');
  const broker = await startBroker({ triggers: parseTriggers(texts), resolve, log });
  closers.push(() => broker.close());
  return { denied, sink: broker.url };
}

function fresh<T extends { metadata: { uid?: string; generation?: number }; status?: unknown }>(
  object: T,
): T {
  const { status: _status, ...rest } = object;
  const { uid: _uid, generation: _generation, ...metadata } = object.metadata;
  return { ...rest, metadata } as unknown as T;
}

describe('the rights and Triggers in knative/base', () => {
  it('are enough for an Order to run to its end, and for its deletion', async () => {
    const clientOf = await startApi();
    const admin = clientOf('admin');
    for (const name of [namespace, conduitNamespace])
      await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    await admin.create(clusterArtifactTypes, fresh(ociType()));
    await admin.create(clusterWorkflowTemplates, fresh(ociTemplate()));
    await admin.create(secrets, fresh(secret('login', { username: 'u', password: 'p' })));
    await admin.create(endpoints, fresh(endpoint('source', { secretRef: { name: 'login' } })));
    await admin.create(endpoints, fresh(endpoint('destination')));

    const { denied, sink } = await startFunctions(clientOf);
    const control = new AbortController();
    const bridge = startBridge({
      api: clientOf('watch-bridge'),
      sink,
      log,
      metrics: createMetrics(),
      signal: control.signal,
      // Events alone have to do it: nothing is repeated while this runs.
      intervals: { unsettled: 600_000, credentials: 600_000 },
    });
    closers.push(async () => {
      control.abort();
      await bridge.done;
    });

    const made = await admin.create(orders, fresh(order('one', ['a:1', 'b:1'])));
    const list = async () => (await admin.list(workflows, { namespace })).items;
    await expect
      .poll(async () => (await list()).length, { timeout: 15_000, message: 'two Workflows' })
      .toBe(2);
    for (const { metadata } of await list()) {
      const status = { phase: 'Succeeded', finishedAt: new Date().toISOString() };
      await admin.mergePatch(workflows, metadata, { status });
    }
    const phase = async () => (await admin.get(orders, made.metadata))?.status?.phase;
    await expect.poll(phase, { timeout: 15_000, message: 'the Order succeeds' }).toBe('Succeeded');
    const rendered = async () =>
      (await admin.list(secrets, { namespace })).items.map(({ metadata }) => metadata.name);
    await expect
      .poll(rendered, { timeout: 15_000, message: 'no rendered Secret is left' })
      .toEqual(['login']);

    await admin.delete(orders, made.metadata);
    const left = async () => [
      await phase(),
      (await admin.list(artifactWorkflows, { namespace })).items.length,
    ];
    await expect.poll(left, { timeout: 15_000, message: 'the Order goes' }).toEqual([undefined, 0]);
    expect(denied).toEqual([]);
  });

  it('show what a function keeps refusing as an Event on its object', async () => {
    const clientOf = await startApi();
    const admin = clientOf('admin');
    for (const name of [namespace, conduitNamespace])
      await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const made = await admin.create(orders, fresh(order('one', ['a:1'])));
    const handle = () => Promise.reject(new ArcError('Invalid', 'this Order is too strange'));
    const { denied, sink } = await startFunctions(clientOf, { 'roll-up-order': { handle } });
    const control = new AbortController();
    const api = clientOf('watch-bridge');
    const bridge = startBridge({ api, sink, log, metrics: createMetrics(), signal: control.signal });
    closers.push(async () => {
      control.abort();
      await bridge.done;
    });
    const told = async () =>
      (await admin.list(events, { namespace })).items
        .filter((event) => event.reason === 'WakeRefused' && event.involvedObject.uid === made.metadata.uid)
        .map(({ message }) => message);
    await expect
      .poll(told, { timeout: 15_000, message: 'the Event' })
      .toContain(
        'function roll-up-order was woken (resync) again and again and answered 422: this Order is too strange. The next resync wakes it anew.',
      );
    expect(denied).toEqual([]);
  });

  it.each([
    ['decompose-order', 'get', 'may not read Secrets'],
    ['submit-workflow', 'get', 'may not read Secrets'],
    ['watch-bridge', 'get', 'may not read Secrets'],
  ])('%s %s Secrets: it %s', async (name) => {
    const clientOf = await startApi();
    const read = clientOf(name).get(secrets, { namespace, name: 'login' });
    await expect(read).rejects.toMatchObject({ code: 'Forbidden' });
  });

  it('let nobody of ours list Secrets', async () => {
    const clientOf = await startApi();
    for (const name of [...Object.keys(functions), 'watch-bridge']) {
      await expect(clientOf(name).list(secrets, { namespace }), name).rejects.toMatchObject({
        code: 'Forbidden',
      });
    }
  });
});
