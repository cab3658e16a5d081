import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '#shared/base/meta';
import {
  artifactWorkflows,
  clusterArtifactTypes,
  clusterWorkflowTemplates,
  type Order,
  orders,
  workflows,
} from '#shared/domain';
import type { Kind, KubeClient } from '#shared/kubernetes/client';
import { apply } from '../../scripts/demo/apply.ts';
import { namespace, tenantObjects } from '../../scripts/demo/objects.ts';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { playArgo } from '../bench/cost/played-argo.ts';
import { startMeasured } from '../bench/measure/standalone-process.ts';
import { checkOut, type EarlierTree } from '../fixtures/cluster/earlier-tree.ts';
import { type EtcdProcess, startEtcd } from '../fixtures/etcd/process.ts';
import { startEarlierConduit } from '../fixtures/standalone/earlier-conduit.ts';

const assets = process.env.KUBEBUILDER_ASSETS;
if (process.env.CI && !assets) throw new Error('set KUBEBUILDER_ASSETS to a folder that holds etcd');
vi.setConfig({ testTimeout: 400_000 });

/** Functions, bridge and API server of the tree of 2026-11-21 and of this one, on one etcd. The test plays Argo. */
describe.skipIf(!assets)('Orders of a2e66d5 that this tree takes over', () => {
  let tree: EarlierTree;
  let etcd: EtcdProcess;
  let folder: string;
  const open = new Set<() => Promise<void>>();
  /** Notes what ends a conduit, for a test that fails before it does that itself. */
  function noted(end: () => Promise<void>): () => Promise<void> {
    open.add(end);
    return async () => {
      open.delete(end);
      await end();
    };
  }
  beforeAll(async () => {
    tree = await checkOut('a2e66d5');
    folder = await mkdtemp(path.join(os.tmpdir(), 'arc-upgrade-'));
    etcd = await startEtcd(path.join(assets ?? '', 'etcd'));
  });
  afterAll(async () => {
    await Promise.all([...open].map((end) => end()));
    await etcd?.stop();
    await tree?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  it('run once each, through the upgrade and back', async () => {
    const earlier = async () => {
      const conduit = await startEarlierConduit(tree.folder, path.join(folder, 'earlier'), etcd.endpoint);
      return { admin: conduit.admin, stop: noted(conduit.stop) };
    };
    let old = await earlier();
    await applyAll(old.admin, [
      ...(await platformOf(tree.folder)),
      ...tenantObjects({ url: 'http://127.0.0.1:1' }, { url: 'http://127.0.0.1:1' }),
    ]);

    let argo = play(old.admin);
    await create(old.admin, 'done');
    await argo.succeed(3);
    await ended(old.admin, 'done');
    await create(old.admin, 'running');
    await argo.running(6);
    const before = await inventory(old.admin);

    const next = await startMeasured({ etcd: etcd.endpoint, runsWorkflows: false });
    const endNext = noted(() => next.close());
    for (const { kind, metadata, spec } of await platformOf('.')) {
      const known: Kind = kind === 'ClusterArtifactType' ? clusterArtifactTypes : clusterWorkflowTemplates;
      await next.admin.mergePatch(known, metadata, { spec });
    }
    // Long enough for both to have looked at everything.
    await sleep(20_000);
    expect(await inventory(next.admin)).toEqual(before);
    argo.end();
    await old.stop();

    argo = play(next.admin);
    await argo.running(6);
    await create(next.admin, 'after');
    await argo.succeed(9);
    for (const name of ['done', 'running', 'after']) await ended(next.admin, name);
    const upgraded = await inventory(next.admin);
    expect(upgraded).toMatchObject(before);
    expect(Object.keys(upgraded)).toHaveLength(9);
    argo.end();
    await endNext();

    old = await earlier();
    await create(old.admin, 'back');
    await eventually('the Order made after the rollback to run', 60_000, async () => {
      const { items } = await old.admin.list(workflows, { namespace });
      expect(items.filter(({ metadata }) => metadata.name.startsWith('back-'))).toHaveLength(3);
    });
    expect(await inventory(old.admin)).toMatchObject(before);
    for (const name of ['done', 'running']) await ended(old.admin, name);
    await old.stop();
  });
});

function play(api: KubeClient) {
  const stop = new AbortController();
  const argo = playArgo(api, stop.signal);
  return {
    running: async (count: number) => {
      await argo.running(count);
      // One more than that would be one that runs twice.
      expect(argo.size).toBe(count);
    },
    async succeed(count: number) {
      await argo.running(count);
      await argo.succeed();
    },
    end: () => stop.abort(),
  };
}

async function platformOf(tree: string): Promise<(KubeObject & { spec?: unknown })[]> {
  const files = ['knative/workflow-templates/oci-image.yaml', 'knative/base/artifact-types/oci.yaml'];
  const texts = await Promise.all(files.map((file) => readFile(path.join(tree, file), 'utf8')));
  return texts.flatMap((text) => parseAllDocuments(text).map((one) => one.toJS() as KubeObject));
}

async function applyAll(api: KubeClient, objects: readonly KubeObject[]): Promise<void> {
  const signal = AbortSignal.timeout(60_000);
  for (const object of objects) await apply(api, object, signal);
}

async function create(api: KubeClient, name: string): Promise<void> {
  const order = {
    apiVersion: orders.apiVersion,
    kind: orders.kind,
    metadata: { name, namespace },
    spec: {
      defaults: { srcRef: { name: 'source' }, dstRef: { name: 'destination' } },
      artifacts: [1, 2, 3].map((at) => ({
        type: 'oci',
        spec: { image: 'team/app:1.0', override: `${name}/app-${at}:1.0` },
      })),
    },
  } as Order;
  await api.create(orders, order, AbortSignal.timeout(60_000));
}

async function ended(api: KubeClient, name: string): Promise<void> {
  await eventually(`Order ${name} to succeed`, 60_000, async () => {
    const order = await api.get(orders, { namespace, name }, AbortSignal.timeout(30_000));
    expect(order?.status, JSON.stringify(order?.status)).toMatchObject({ phase: 'Succeeded' });
  });
}

/** Each ArtifactWorkflow with the one Workflow that it has: neither may ever become another one. */
async function inventory(api: KubeClient): Promise<Record<string, unknown>> {
  const signal = AbortSignal.timeout(30_000);
  const { items } = await api.list(artifactWorkflows, { namespace }, signal);
  const runs = await api.list(workflows, { namespace }, signal);
  return Object.fromEntries(
    items.map(({ metadata, status }) => {
      const mine = runs.items.filter((run) => run.metadata.name === status?.workflowRef?.name);
      const uids = mine.map((run) => run.metadata.uid);
      return [metadata.name, { uid: metadata.uid, attempts: status?.attempts, workflows: uids }];
    }),
  );
}
