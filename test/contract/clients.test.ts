import {
  ApiException,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  type KubernetesListObject,
  type KubernetesObject,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
} from '@kubernetes/client-node';
import pMap from 'p-map';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { startApi, type TestApi } from '../fixtures/standalone/api-server.ts';

// The JavaScript client of the Kubernetes project: it knows nothing of ours.
const at = { group: 'arc.opendefense.cloud', version: 'v1alpha1', namespace: 'clients', plural: 'orders' };
const artifact = { type: 'oci', srcRef: { name: 'a' }, dstRef: { name: 'b' }, spec: { image: 'a:1' } };
const order = (name: string, labels: Record<string, string> = {}) => ({
  apiVersion: 'arc.opendefense.cloud/v1alpha1',
  kind: 'Order',
  metadata: { name, labels },
  spec: { artifacts: [artifact] },
});

let api: TestApi;
let config: KubeConfig;
let custom: CustomObjectsApi;
let core: CoreV1Api;

beforeAll(async () => {
  api = await startApi();
  config = new KubeConfig();
  config.loadFromFile(api.kubeconfig);
  custom = config.makeApiClient(CustomObjectsApi);
  core = config.makeApiClient(CoreV1Api);
  await core.createNamespace({ body: { metadata: { name: at.namespace } } });
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
  expect(api.log).toEqual([]);
});

/** The Status that a call was refused with, as the client reads it. */
async function statusOf(call: Promise<unknown>) {
  const caught = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(caught instanceof ApiException)) throw new Error('the call was not refused', { cause: caught });
  return { code: caught.code, status: JSON.parse(String(caught.body)) };
}

describe('CustomObjectsApi', () => {
  it('creates, reads, patches, replaces, lists and deletes Orders', async () => {
    const made = await custom.createNamespacedCustomObject({ ...at, body: order('one', { a: 'b' }) });
    expect(made).toMatchObject({ kind: 'Order', metadata: { name: 'one', generation: 1 } });
    const merged = await custom.patchNamespacedCustomObject(
      { ...at, name: 'one', body: { spec: { suspend: true } } },
      setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
    );
    expect(merged).toMatchObject({ metadata: { generation: 2 }, spec: { suspend: true } });
    const patched = await custom.patchNamespacedCustomObject(
      { ...at, name: 'one', body: [{ op: 'replace', path: '/spec/suspend', value: false }] },
      setHeaderOptions('Content-Type', PatchStrategy.JsonPatch),
    );
    await custom.replaceNamespacedCustomObject({
      ...at,
      name: 'one',
      body: { ...patched, spec: order('').spec },
    });
    const read = await custom.getNamespacedCustomObject({ ...at, name: 'one' });
    expect(read.spec).toEqual({ artifacts: [artifact] });
    await custom.createNamespacedCustomObject({ ...at, body: order('two') });
    const page = await custom.listNamespacedCustomObject({ ...at, limit: 1 });
    expect([page.items.length, page.metadata.remainingItemCount]).toEqual([1, 1]);
    const rest = await custom.listNamespacedCustomObject({
      ...at,
      limit: 1,
      _continue: page.metadata.continue,
    });
    expect([...page.items, ...rest.items].map(({ metadata }) => metadata.name)).toEqual(['one', 'two']);
    const labelled = await custom.listNamespacedCustomObject({ ...at, labelSelector: 'a=b' });
    expect(labelled.items).toHaveLength(1);
    for (const name of ['one', 'two']) await custom.deleteNamespacedCustomObject({ ...at, name });
    expect((await custom.listNamespacedCustomObject(at)).items).toEqual([]);
  });

  it('reads refusals as a Status', async () => {
    expect(await statusOf(custom.getNamespacedCustomObject({ ...at, name: 'absent' }))).toMatchObject({
      code: 404,
      status: { kind: 'Status', reason: 'NotFound', details: { name: 'absent', kind: 'orders' } },
    });
    const body = { ...order('bad'), spec: { artifacts: [{ ...artifact, type: undefined }] } };
    expect(await statusOf(custom.createNamespacedCustomObject({ ...at, body }))).toMatchObject({
      code: 422,
      status: {
        reason: 'Invalid',
        details: { causes: [{ field: 'spec.artifacts[0].type', message: 'Required value' }] },
      },
    });
    const stale = { ...order('stale'), metadata: { name: 'stale', resourceVersion: '1' } };
    await custom.createNamespacedCustomObject({ ...at, body: order('stale') });
    expect(
      await statusOf(custom.replaceNamespacedCustomObject({ ...at, name: 'stale', body: stale })),
    ).toMatchObject({
      code: 409,
      status: { reason: 'Conflict' },
    });
    expect(
      await statusOf(custom.createNamespacedCustomObject({ ...at, body: order('stale') })),
    ).toMatchObject({
      code: 409,
      status: { reason: 'AlreadyExists' },
    });
    await custom.deleteNamespacedCustomObject({ ...at, name: 'stale' });
  });
});

describe('makeInformer', () => {
  it('holds the same Orders as a list, after 60 were created, relabelled and deleted', async () => {
    const path = `/apis/${at.group}/${at.version}/namespaces/${at.namespace}/orders`;
    const list = () =>
      custom.listNamespacedCustomObject(at) as Promise<KubernetesListObject<KubernetesObject>>;
    const informer = makeInformer(config, path, list);
    const counted = { add: 0, delete: 0 };
    const failures: unknown[] = [];
    informer.on('add', () => void counted.add++);
    informer.on('delete', () => void counted.delete++);
    informer.on('error', (failure) => void failures.push(failure));
    await informer.start();
    const names = Array.from({ length: 60 }, (_, index) => `order-${index}`);
    const turn = async (name: string, index: number) => {
      await custom.createNamespacedCustomObject({ ...at, body: order(name) });
      await custom.patchNamespacedCustomObject(
        { ...at, name, body: { metadata: { labels: { turn: String(index % 7) } } } },
        setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
      );
      if (index % 2 === 0) await custom.deleteNamespacedCustomObject({ ...at, name });
    };
    // Each request in flight is a connection of its own; many TLS handshakes at once outlast the client's limit for one.
    await pMap(names, turn, { concurrency: 20 });
    const seen = (objects: readonly KubernetesObject[]) =>
      objects.map(({ metadata }) => `${metadata?.name}@${metadata?.resourceVersion}`).sort();
    const expected = seen((await list()).items);
    expect(expected).toHaveLength(30);
    await eventually('the informer to hold the list', 10_000, () => {
      expect(seen(informer.list())).toEqual(expected);
    });
    expect(counted).toEqual({ add: 60, delete: 30 });
    await informer.stop();
    expect(failures).toEqual([]);
  });
});

describe('CoreV1Api', () => {
  const { namespace } = at;

  it('handles Secrets and ConfigMaps', async () => {
    await core.createNamespacedSecret({
      namespace,
      body: { metadata: { name: 's' }, stringData: { user: 'me' } },
    });
    const secret = await core.readNamespacedSecret({ namespace, name: 's' });
    expect([secret.data, secret.type]).toEqual([{ user: Buffer.from('me').toString('base64') }, 'Opaque']);
    await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'c' }, data: { a: 'b' } } });
    const patched = await core.patchNamespacedConfigMap(
      { namespace, name: 'c', body: { data: { a: null, c: 'd' } } },
      setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch),
    );
    expect(patched.data).toEqual({ c: 'd' });
    await core.deleteNamespacedConfigMap({ namespace, name: 'c' });
    await core.deleteCollectionNamespacedSecret({ namespace });
    expect((await core.listNamespacedSecret({ namespace })).items).toEqual([]);
  });

  it('handles Events and Namespaces', async () => {
    const involvedObject = { kind: 'Order', name: 'one', namespace };
    const event = {
      metadata: { generateName: 'one.' },
      involvedObject,
      reason: 'Tried',
      message: 'm',
      type: 'Normal',
    };
    const { metadata } = await core.createNamespacedEvent({ namespace, body: event });
    expect(metadata.name).toMatch(/^one\.\w{5}$/);
    const fieldSelector = 'involvedObject.name=one';
    expect((await core.listNamespacedEvent({ namespace, fieldSelector })).items).toHaveLength(1);
    const names = (await core.listNamespace()).items.map((one) => one.metadata?.name);
    expect(names).toContain(namespace);
    const missing = await statusOf(core.readNamespacedSecret({ namespace, name: 'absent' }));
    expect(missing).toMatchObject({ code: 404, status: { message: 'secrets "absent" not found' } });
    const lost = core.createNamespacedSecret({ namespace: 'nowhere', body: { metadata: { name: 's' } } });
    expect((await statusOf(lost)).status.message).toBe('namespaces "nowhere" not found');
  });
});
