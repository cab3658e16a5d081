import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Artifact,
  type ArtifactWorkflow,
  clusterArtifactTypes,
  clusterWorkflowTemplates,
  endpoints,
  isFinished,
  type OrderSpec,
  orders,
  secrets,
  workflows,
} from '#shared/domain';
import { seedImage } from '#shared/local';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { type Conduit, password, startConduit, type Tenant } from '../fixtures/standalone/conduit.ts';

const app = { type: 'light', spec: { image: 'team/app:1.0' } };
const light = 'test/light:1';
const nowSeconds = () => String(Math.floor(Date.now() / 1000));

let conduit: Conduit;
let folder: string;
/** Of the workers of each kind. */
const filesOf = (kind: 'lone' | 'stubborn') => path.join(folder, kind);

/** Leaves `overlap` in its folder when it finds another of its kind at work. */
const loneWorker = `
trap 'rmdir "$0/lock"' EXIT
trap 'exit 143' TERM
mkdir "$0/lock" || touch "$0/overlap"
sleep 0.2
printf '{"outcome":"succeeded"}' > "$ARC_RESULT_FILE"`;

/** Waits for the file `go` whatever it is sent. */
const stubbornWorker = `
trap '' TERM
touch "$0/begun"
while [ ! -e "$0/go" ]; do sleep 0.1; done
printf '{"outcome":"succeeded"}' > "$ARC_RESULT_FILE"`;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-workers-'));
  for (const kind of ['lone', 'stubborn'] as const) await mkdir(filesOf(kind));
  conduit = await startConduit({
    programs: {
      'test/lone:*': ['/bin/sh', '-c', loneWorker, filesOf('lone')],
      'test/stubborn:*': ['/bin/sh', '-c', stubbornWorker, filesOf('stubborn')],
    },
  });
  await conduit.typeOf('lone', 'test/lone:1');
  const options = { platforms: ['linux/amd64'], layers: 1, layerBytes: 16 * 1024, signature: false };
  await conduit.typeOf('stubborn', 'test/stubborn:1');
  await conduit.typeOf('light', light);
  await seedImage(conduit.source, 'team/app', '1.0', options);
  await seedImage(conduit.source, 'slow/app', '1.0', options);
  // The first who asks for it waits until he is stopped.
  conduit.source.faults.add({ path: /^\/v2\/slow\//, fault: { kind: 'hang' }, times: 1 });
  conduit.source.faults.add({ path: /^\/v2\/flaky\//, fault: { kind: 'status', status: 503 } });
});
afterAll(async () => {
  await conduit?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Resolves when this many Workflows have been started, every ArtifactWorkflow has ended and the Order says so. */
async function ran(tenant: Tenant, runs: number): Promise<void> {
  await eventually(`${runs} runs`, 30_000, async () => {
    expect(tenant.started()).toHaveLength(runs);
    expect((await tenant.children()).every(isFinished)).toBe(true);
  });
  await tenant.settled();
  await tenant.ended('order');
}

/** Runs `change` in a namespace where one Order has succeeded; resolves when it has run so many Workflows in all. */
async function afterChange(
  namespace: string,
  runs: number,
  change: (tenant: Tenant) => Promise<void>,
  spec: Partial<OrderSpec> = {},
  artifact: Artifact = app,
): Promise<{ tenant: Tenant; children: ArtifactWorkflow[] }> {
  const tenant = await conduit.tenant(namespace);
  await tenant.order('order', [artifact], spec);
  await tenant.ended('order');
  expect(tenant.started()).toHaveLength(1);
  await change(tenant);
  await ran(tenant, runs);
  expect(tenant.started()).toHaveLength(runs);
  return { tenant, children: await tenant.children() };
}

describe.concurrent('what makes an artifact run again, under a new name', { timeout: 300_000 }, () => {
  it('another URL of its Endpoint', async () => {
    const remoteURL = `${conduit.destination.url}/moved`;
    const { tenant, children } = await afterChange(
      'url',
      2,
      (tenant) => tenant.patch(endpoints, 'destination', { spec: { remoteURL } }),
      {},
      { ...app, type: 'oci' },
    );
    expect(new Set(children.map(({ metadata }) => metadata.name)).size).toBe(2);
    expect(children.map(({ spec }) => spec.dstRef?.generation).sort()).toEqual([1, 2]);
    expect((await tenant.read(orders, 'order')).status?.endpointGenerations).toEqual({
      destination: 2,
      source: 1,
    });
    expect(conduit.destination.contents.get('moved/team/app')?.tags.has('1.0')).toBe(true);
  });

  it("other credentials in its Endpoint's Secret", async () => {
    const { tenant, children } = await afterChange('data', 2, (tenant) =>
      tenant.patch(secrets, 'credentials', { stringData: { region: 'rotated' } }),
    );
    // One Secret, two Endpoints: both counters rise, and still only one new version runs to its end.
    expect(
      children.some(({ spec }) => spec.srcRef?.secretGeneration === 2 && spec.dstRef?.secretGeneration === 2),
    ).toBe(true);
    expect((await tenant.read(orders, 'order')).status?.secretGenerations).toEqual({
      destination: 2,
      source: 2,
    });
  });

  it('a force', async () => {
    const { tenant, children } = await afterChange('force', 2, (tenant) =>
      tenant.patch(orders, 'order', {
        metadata: { annotations: { 'arc.opendefense.cloud/force-at': nowSeconds() } },
      }),
    );
    expect(children).toHaveLength(2);
    expect((await tenant.read(orders, 'order')).status?.lastForceAt).toBeDefined();
    // Taking the annotation away is no new wish.
    await tenant.patch(orders, 'order', { metadata: { annotations: null } });
    await tenant.settled();
    expect(tenant.started()).toHaveLength(2);
  });

  it('a force, which sends again what the destination lost behind its manifest, as does a wish to verify', async () => {
    const tenant = await conduit.tenant('lost');
    const spec = { image: 'team/app:1.0', override: 'lost/app:1.0' };
    await tenant.order('order', [{ name: 'app', type: 'oci', spec }]);
    await tenant.ended('order');
    const blobs = () => conduit.destination.contents.get('lost/app')?.blobs;
    const [lost = ''] = blobs()?.keys() ?? [];
    for (const [runs, patch] of [
      [2, { metadata: { annotations: { 'arc.opendefense.cloud/force-at': nowSeconds() } } }],
      [3, { spec: { verify: 'Always' } }],
    ] as const) {
      blobs()?.delete(lost);
      await tenant.patch(orders, 'order', patch);
      await ran(tenant, runs);
      expect(blobs()?.has(lost)).toBe(true);
      const [newest] = (await tenant.children()).sort(
        (a, b) => (b.spec.revision ?? 0) - (a.spec.revision ?? 0),
      );
      expect(newest?.status?.results?.blobs?.copied).toBe(1);
    }
  });

  it('parameters of its type, and another template', async () => {
    const type = await conduit.typeOf('tuned', light);
    const tenant = await conduit.tenant('tuned');
    await tenant.order('order', [{ ...app, type }]);
    await tenant.ended('order');
    await tenant.patch(clusterArtifactTypes, type, { spec: { parameters: [{ name: 'level', value: '9' }] } });
    await ran(tenant, 2);
    const template = await conduit.api.get(clusterWorkflowTemplates, { name: 'tuned' });
    if (!template) throw new Error('no template');
    await conduit.api.create(clusterWorkflowTemplates, { ...template, metadata: { name: 'tuned-template' } });
    await tenant.patch(clusterArtifactTypes, type, {
      spec: { workflowTemplateRef: { name: 'tuned-template' } },
    });
    await ran(tenant, 3);
    const latest = (await tenant.children()).find(
      ({ spec }) => spec.workflowTemplateRef.name === 'tuned-template',
    );
    expect(latest?.spec.parameters).toContainEqual({ name: 'level', value: '9' });
    expect(latest?.status?.phase).toBe('Succeeded');
  });

  it('a change of the Order itself, for the artifact it is about and no other', async () => {
    const tenant = await conduit.tenant('edited');
    await tenant.order('order', [app]);
    await tenant.ended('order');
    const tool = { type: 'light', spec: { image: 'team/tool:1.0' } };
    await tenant.patch(orders, 'order', { spec: { artifacts: [app, tool] } });
    await tenant.ended('order');
    await tenant.settled();
    expect(tenant.started()).toHaveLength(2);
    await tenant.patch(orders, 'order', { spec: { artifacts: [tool] } });
    const { status } = await tenant.when(
      'order',
      'one artifact',
      ({ status }) => status?.counts?.total === 1,
    );
    expect(status).toMatchObject({ phase: 'Succeeded', counts: { total: 1, succeeded: 1 } });
  });
});

describe.concurrent('what runs nothing again', { timeout: 300_000 }, () => {
  const label = { metadata: { labels: { team: 'blue' }, annotations: { note: 'seen' } } };

  it('labels and annotations of everything it refers to, and time limits', async () => {
    const type = await conduit.typeOf('labelled', light);
    const tenant = await conduit.tenant('labelled');
    await tenant.order('order', [{ ...app, type }]);
    await tenant.ended('order');
    await tenant.patch(endpoints, 'source', label);
    await tenant.patch(secrets, 'credentials', label);
    await tenant.patch(clusterArtifactTypes, type, label);
    await tenant.patch(orders, 'order', label);
    await tenant.patch(clusterArtifactTypes, type, {
      spec: { ttlAfterFinished: '720h', retry: { limit: 3 } },
    });
    await tenant.patch(orders, 'order', { spec: { ttlSecondsAfterCompletion: 86_400 } });
    await eventually('the limits to arrive', 30_000, async () => {
      const [child] = await tenant.children();
      expect(child?.spec).toMatchObject({ ttlAfterFinished: '86400s', retry: { limit: 3 } });
    });
    await tenant.settled();
    expect(tenant.started()).toHaveLength(1);
    expect(await tenant.children()).toHaveLength(1);
    expect((await tenant.ended('order')).status?.counts).toMatchObject({ total: 1, succeeded: 1 });
  });

  it('the limit of transfers of an Endpoint', async () => {
    const tenant = await conduit.tenant('limited');
    await tenant.order('order', [app]);
    await tenant.ended('order');
    await tenant.patch(endpoints, 'source', { spec: { maxInFlight: 5 } });
    await tenant.when(
      'order',
      'the new generation',
      ({ status }) => status?.phase === 'Succeeded' && status.endpointGenerations?.source === 2,
    );
    await tenant.settled();
    expect(tenant.started()).toHaveLength(1);
    expect((await tenant.children()).map(({ spec }) => spec.srcRef?.generation)).toEqual([1]);
  });

  it('one apply of everything at once, whatever comes first', async () => {
    const tenant = await conduit.tenant('at-once');
    await Promise.all([
      tenant.order('order', [
        { ...app, srcRef: { name: 'early' } },
        { ...app, srcRef: { name: 'late' }, spec: { ...app.spec, override: 'team/late:1.0' } },
      ]),
      tenant.secret('fresh', { username: 'mover', password }),
      tenant.endpoint('early', { type: 'oci', remoteURL: conduit.source.url, secretRef: { name: 'fresh' } }),
      tenant.endpoint('late', { type: 'oci', remoteURL: conduit.source.url, secretRef: { name: 'fresh' } }),
    ]);
    await tenant.ended('order');
    await tenant.settled();
    expect(tenant.started()).toHaveLength(2);
  });

  it('a change of an Endpoint under onChange: Keep', async () => {
    const { tenant, children } = await afterChange(
      'keep',
      1,
      async (tenant) => {
        await tenant.patch(endpoints, 'destination', {
          spec: { remoteURL: `${conduit.destination.url}/kept` },
        });
        await tenant.when(
          'order',
          'the new generation',
          ({ status }) => status?.endpointGenerations?.destination === 2,
        );
      },
      { onChange: 'Keep' },
    );
    expect(children).toHaveLength(1);
    // A force is the user's own wish, and takes the Endpoint as it is now.
    await tenant.patch(orders, 'order', {
      metadata: { annotations: { 'arc.opendefense.cloud/force-at': nowSeconds() } },
    });
    await ran(tenant, 2);
  });

  it('a change under onChange: RerunUnfinished, for what has succeeded', async () => {
    const tenant = await conduit.tenant('unfinished');
    const absent = { type: 'oci', spec: { image: 'not/there:1.0' } };
    await tenant.order('order', [app, absent], { onChange: 'RerunUnfinished' });
    await tenant.ended('order', 'Failed');
    await tenant.patch(endpoints, 'source', { spec: { remoteURL: `${conduit.source.url}/` } });
    await eventually('the failed one to run again', 30_000, () => expect(tenant.started()).toHaveLength(3));
    await tenant.when(
      'order',
      'Failed again',
      ({ status }) => status?.phase === 'Failed' && status.endpointGenerations?.source === 2,
    );
    await tenant.settled();
    expect(tenant.started()).toHaveLength(3);
  });
});

describe.concurrent('what runs again for having failed', { timeout: 300_000 }, () => {
  it('retry-at: what had failed, and nothing else', async () => {
    const tenant = await conduit.tenant('retried');
    await tenant.order('order', [app, { type: 'oci', spec: { image: 'retried/app:1.0' } }]);
    await tenant.ended('order', 'Failed');
    await seedImage(conduit.source, 'retried/app', '1.0', {
      platforms: ['linux/amd64'],
      layers: 1,
      signature: false,
    });
    await tenant.patch(orders, 'order', {
      metadata: { annotations: { 'arc.opendefense.cloud/retry-at': String(Number(nowSeconds()) + 1) } },
    });
    const order = await tenant.ended('order');
    expect(tenant.started()).toHaveLength(3);
    expect(
      Object.values(order.status?.artifactWorkflows ?? {}).find(({ attempts }) => attempts === 2),
    ).toMatchObject({ artifactIndex: 1, phase: 'Succeeded' });
  });

  it('spec.retry: as often as it says, after a while, telling when', async () => {
    const tenant = await conduit.tenant('backoff');
    await tenant.order('order', [{ type: 'oci', spec: { image: 'flaky/app:1.0' } }], {
      retry: { limit: 1, backoff: '10s' },
    });
    await tenant.when('order', 'the time of the next attempt', ({ status }) => {
      const [entry] = Object.values(status?.artifactWorkflows ?? {});
      return entry?.phase === 'Pending' && /attempt 1 failed, trying again at \d/.test(entry.message ?? '');
    });
    const order = await tenant.ended('order', 'Failed');
    expect(tenant.started()).toHaveLength(2);
    expect(Object.values(order.status?.artifactWorkflows ?? {})[0]).toMatchObject({
      phase: 'Failed',
      attempts: 2,
    });
    const runs = (await conduit.api.list(workflows, { namespace: 'backoff' })).items
      .map(({ status }) => [Date.parse(status?.startedAt ?? ''), Date.parse(status?.finishedAt ?? '')])
      .sort(([a = 0], [b = 0]) => a - b);
    expect((runs[1]?.[0] ?? 0) - (runs[0]?.[1] ?? 0)).toBeGreaterThanOrEqual(10_000);
  });
});

describe.concurrent('what is not finished', { timeout: 300_000 }, () => {
  it('a superseded version is stopped before the new one starts', async () => {
    const tenant = await conduit.tenant('superseded');
    await tenant.order('order', [
      { type: 'oci', spec: { image: 'slow/app:1.0', override: 'superseded/app:1.0' } },
    ]);
    const asked = () => conduit.source.requests.some(({ path }) => path.includes('/slow/'));
    await eventually('the first version to be under way', 30_000, () => expect(asked()).toBe(true));
    const [old] = await tenant.children();
    await tenant.patch(endpoints, 'destination', {
      spec: { remoteURL: `${conduit.destination.url}/second` },
    });
    await tenant.ended('order');
    const children = await tenant.children();
    expect(children.map(({ metadata }) => metadata.name)).not.toContain(old?.metadata.name);
    expect(conduit.destination.contents.get('second/superseded/app')?.tags.has('1.0')).toBe(true);
    // It may have begun to send blobs, which nothing refers to.
    expect(conduit.destination.contents.get('superseded/app')?.manifests.size ?? 0).toBe(0);
  });

  it('is Cancelled with its Order, though its worker ignores SIGTERM, and runs again when that is taken back', async () => {
    const tenant = await conduit.tenant('cancelled');
    await tenant.order('order', [
      app,
      { type: 'stubborn', spec: { image: 'team/app:1.0', override: 'stubborn/app:1.0' } },
    ]);
    await eventually('the worker to run', 30_000, async () =>
      expect(await readdir(filesOf('stubborn'))).toContain('begun'),
    );
    await tenant.when('order', 'one to have arrived', ({ status }) => status?.counts?.succeeded === 1);
    await tenant.patch(orders, 'order', { spec: { cancel: true } });
    const { status } = await tenant.ended('order', 'Cancelled');
    expect(status?.counts).toMatchObject({ succeeded: 1, cancelled: 1, failed: 0 });
    await tenant.settled();
    expect(tenant.started()).toHaveLength(2);
    await writeFile(path.join(filesOf('stubborn'), 'go'), '');
    await tenant.patch(orders, 'order', { spec: { cancel: null } });
    await tenant.ended('order');
    expect(tenant.started()).toHaveLength(3);
  });

  it('a burst of edits ends in the last, and no two versions run at once', async () => {
    const tenant = await conduit.tenant('burst');
    await tenant.order('order', [{ ...app, type: 'lone' }]);
    for (let edit = 1; edit <= 8; edit++) {
      const remoteURL = `${conduit.destination.url}/edit-${edit}`;
      await tenant.patch(endpoints, 'destination', { spec: { remoteURL } });
      await tenant.settled();
    }
    const last = await tenant.when(
      'order',
      'the last generation to be done',
      ({ status }) => status?.phase === 'Succeeded' && status.endpointGenerations?.destination === 9,
    );
    const key = Object.keys(last.status?.artifactWorkflows ?? {})[0] ?? '';
    const child = (await tenant.children()).find(({ metadata }) => metadata.name.endsWith(key));
    expect(child).toMatchObject({ spec: { dstRef: { generation: 9 } }, status: { phase: 'Succeeded' } });
    expect(await readdir(filesOf('lone'))).toEqual([]);
    // The last one, and at most three of history.
    await eventually('history to be cut', 10_000, async () =>
      expect((await tenant.children()).length).toBeLessThanOrEqual(4),
    );
  });

  it('a suspended Order starts nothing, says so, and goes on when resumed', async () => {
    const tenant = await conduit.tenant('suspended');
    await tenant.order('order', [app], { suspend: true });
    const { status } = await tenant.when('order', 'Suspended', ({ status }) => status?.phase === 'Suspended');
    expect(status?.message).toContain('suspended');
    await tenant.settled();
    expect(tenant.started()).toEqual([]);
    await tenant.patch(orders, 'order', { spec: { suspend: null } });
    await tenant.ended('order');
    expect(tenant.started()).toHaveLength(1);
  });
});
