import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKubeClient, programAccess } from '#shared/kubernetes/client';
import { openEtcdStore } from '#shared/kubernetes/storage';
import { createProgram } from '../../scripts/arcctl/program.ts';
import { type KnownOwner, keepRuns } from '../../scripts/arcctl/restore/keep-runs.ts';
import { quietIo } from '../../scripts/arcctl/testing/quiet-io.ts';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { argoDefinitions } from '../fixtures/cluster/argo-definitions.ts';
import {
  arcPath,
  type Cluster,
  corePath,
  describeCluster,
  startCluster,
} from '../fixtures/cluster/cluster.ts';
import { newArtifactWorkflow, newNamespace, newOrder, ownedBy } from '../fixtures/cluster/cluster-objects.ts';
import { type EtcdProcess, startEtcd } from '../fixtures/etcd/process.ts';
import type { Body, WatchEvent } from '../fixtures/http/https-client.ts';
import { type StorageProcess, startStorageProcess, storageTools } from '../fixtures/image/storage-tools.ts';

const run = promisify(execFile);
const patience = 60_000;

/** functions/api-server with an argument; resolves with the lines of its output. */
async function apiServer(args: string[], env: NodeJS.ProcessEnv): Promise<string[]> {
  const all = { ...process.env, ...env, ARC_ETCD_PREFIX: '/arc/' };
  const { stdout } = await run(process.execPath, ['functions/api-server/main.ts', ...args], { env: all });
  return stdout.split('\n').filter(Boolean);
}

const workflowPath = (name?: string) =>
  `/apis/argoproj.io/v1alpha1/namespaces/team/workflows${name === undefined ? '' : `/${name}`}`;

describeCluster('a backup', (machine) => {
  let cluster: Cluster;
  let etcd: EtcdProcess;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'arc-backups-'));
    etcd = await startEtcd(path.join(machine.assets, 'etcd'));
    cluster = await startCluster(machine, { store: 'etcd', etcd: etcd.endpoint });
    await cluster.plane.kubectl(['apply', '-f', '-'], { input: argoDefinitions });
    await cluster.api.must('POST', corePath('namespaces'), newNamespace('team'));
    cluster.plane.startControllers();
  }, 180_000);
  afterAll(async () => {
    await cluster?.stop();
    await etcd?.stop();
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  const read = async (of: string): Promise<Body | undefined> => {
    const reply = await cluster.api.send('GET', of);
    if (reply.code === 404) return undefined;
    expect(reply.code, reply.text).toBe(200);
    return reply.body();
  };
  const create = async (plural: 'orders' | 'artifactworkflows', name: string) => {
    const make = plural === 'orders' ? newOrder : newArtifactWorkflow;
    return cluster.api.must('POST', arcPath(plural, 'team'), make({ name }));
  };
  const createWorkflow = (name: string, owner: Body) =>
    cluster.api.must('POST', workflowPath(), {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'Workflow',
      spec: {},
      status: { phase: 'Running' },
      metadata: { name, ownerReferences: [{ ...ownedBy(owner), controller: true }] },
    });

  it.each(['is lost', 'has gone on for a day'])(
    'is restored where the data of etcd %s: watches begin anew, and what ran meanwhile is not collected',
    async (what) => {
      const round = what === 'is lost' ? 'lost' : 'old';
      const { api, ours, plane } = cluster;
      const env = { ARC_ETCD_ENDPOINTS: etcd.endpoint, ARC_BACKUP_TARGET: folder };
      const order = await create('orders', `kept-${round}`);
      await createWorkflow(`kept-${round}-1`, await create('artifactworkflows', `kept-${round}`));
      await create('orders', `deleted-${round}`);
      await apiServer(['backup'], env);
      const name = (await readdir(folder)).sort().at(-1) ?? '';

      await api.must('DELETE', arcPath('orders', 'team', `deleted-${round}`));
      await api.must('PATCH', arcPath('orders', 'team', `kept-${round}`), {
        metadata: { labels: { a: 'b' } },
      });
      await create('orders', `later-${round}`);
      await createWorkflow(`later-${round}-1`, await create('artifactworkflows', `later-${round}`));
      const list = await api.must('GET', arcPath('orders', 'team'));
      const position = Number(list.metadata.resourceVersion);

      await ours.first.stop();
      if (round === 'lost') {
        await etcd.lose();
        await etcd.restart();
      }
      const lines = await apiServer(['restore', name], env);
      const owners = lines.filter((line) => line.includes('"uid"') && !line.includes('"level"'));
      const access = await programAccess({ KUBECONFIG: plane.env.KUBECONFIG });
      const client = createKubeClient({ ...access, userAgent: 'test' });
      const known = owners.map((line): KnownOwner => JSON.parse(line));
      expect(await keepRuns({ api: client }, known, AbortSignal.timeout(patience))).toBe(1);
      await ours.first.start();
      await ours.available();

      const found = await read(arcPath('orders', 'team', `kept-${round}`));
      expect(found).toMatchObject({ spec: order.spec, metadata: { uid: order.metadata.uid } });
      expect(found?.metadata.labels).toBeUndefined();
      expect(await read(arcPath('orders', 'team', `later-${round}`))).toBeUndefined();
      expect(await read(arcPath('orders', 'team', `deleted-${round}`))).toBeDefined();
      for (const before of [position, 2]) {
        const events: WatchEvent[] = [];
        const query = `?watch=true&resourceVersion=${before}&timeoutSeconds=5`;
        const signal = AbortSignal.timeout(patience);
        await api.watch(`${arcPath('orders', 'team')}${query}`, (event) => events.push(event), signal);
        expect(events).toMatchObject([{ type: 'ERROR', object: { code: 410, reason: 'Expired' } }]);
      }
      const now = await api.must('GET', arcPath('orders', 'team'));
      expect(Number(now.metadata.resourceVersion)).toBeGreaterThan(position + 900_000_000);

      // Of the same kinds: when the collector has removed this one, it has judged those that were there before.
      const absent = { apiVersion: 'arc.opendefense.cloud/v1alpha1', kind: 'ArtifactWorkflow' };
      await createWorkflow(`judged-${round}`, {
        ...absent,
        metadata: { name: 'absent', uid: `absent-${round}` },
      });
      await eventually('the garbage collector to look at Workflows again', patience, async () =>
        expect(await read(workflowPath(`judged-${round}`))).toBeUndefined(),
      );
      expect((await read(workflowPath(`kept-${round}-1`)))?.metadata.ownerReferences).toHaveLength(1);
      const later = await read(workflowPath(`later-${round}-1`));
      expect(later).toBeDefined();
      expect(later?.metadata).not.toHaveProperty('ownerReferences');
    },
    240_000,
  );

  it('is saved and restored by arcctl, whose pod has what api-server has', async () => {
    const { api, ours, plane } = cluster;
    const manifests = ['namespace/priority-class.yaml', 'api-server/deployment.yaml'];
    await plane.kubectl(['apply', ...manifests.flatMap((name) => ['-f', `knative/base/${name}`])]);
    // It stands for the cluster's way into a container: the program, on this machine.
    const kubectl = `#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift 3\nexec ${process.execPath} functions/api-server/main.ts "$@"\n`;
    await writeFile(path.join(folder, 'kubectl'), kubectl, { mode: 0o755 });
    const store = { ARC_ETCD_ENDPOINTS: etcd.endpoint, ARC_ETCD_PREFIX: '/arc/' };
    const io = quietIo({ env: { ...plane.env, ...store, PATH: `${folder}:${process.env.PATH}` } });
    const arcctl = (...args: string[]) => createProgram(io).parseAsync(['node', 'arcctl', ...args]);
    const file = path.join(folder, 'all.gz');
    await create('orders', 'saved');
    await arcctl('backup', file);
    expect(io.printed.join()).toMatch(/^\d+ objects backed up, consistent as of /);
    await api.must('DELETE', arcPath('orders', 'team', 'saved'));

    await writeFile(path.join(folder, 'cut.gz'), (await readFile(file)).subarray(0, 100));
    await expect(arcctl('restore', path.join(folder, 'cut.gz'), '--yes')).rejects.toThrow('invalid backup');
    await expect(arcctl('restore', file)).rejects.toThrow('--yes');
    await expect(arcctl('restore', 'x', '--stored', '--yes')).rejects.toThrow('components/backup');

    const done = new AbortController();
    const kubelet = playKubelet(cluster, done.signal);
    await arcctl('restore', file, '--yes').finally(() => done.abort());
    const { pod } = await kubelet;
    expect(pod).toMatchObject({
      metadata: { labels: { 'app.kubernetes.io/name': 'backup' } },
      spec: { containers: [{ name: 'server', volumeMounts: expect.any(Array), env: expect.any(Array) }] },
    });
    await ours.available();
    expect(await read(arcPath('orders', 'team', 'saved'))).toBeDefined();
    const deployment = await read(deploymentPath);
    expect(deployment?.spec).toMatchObject({ replicas: 2 });
    expect(JSON.stringify(deployment?.metadata)).not.toContain('before-restore');
  }, 240_000);
});

const deploymentPath = '/apis/apps/v1/namespaces/arc-system/deployments/api-server';

/** Marks pods of arc-system as ready, and starts and ends our API server with the replicas of its Deployment. Returns the pod that restored. */
async function playKubelet({ api, ours }: Cluster, signal: AbortSignal): Promise<{ pod: Body | undefined }> {
  let restorer: Body | undefined;
  let runs = true;
  while (!signal.aborted) {
    const { spec } = await api.must('GET', deploymentPath);
    const wanted = (spec as { replicas: number }).replicas > 0;
    if (wanted !== runs) await (wanted ? ours.first.start() : ours.first.stop());
    runs = wanted;
    const { items = [] } = await api.must('GET', corePath('pods', 'arc-system'));
    restorer = items.find(({ metadata }) => metadata.name === 'restore') ?? restorer;
    for (const { metadata } of items) {
      const ready = { name: 'server', ready: true, restartCount: 0, image: 'a', imageID: 'a' };
      const conditions = [{ type: 'Ready', status: 'True' }];
      const status = { phase: 'Running', conditions, containerStatuses: [ready] };
      const of = `${corePath('pods', 'arc-system', metadata.name)}/status`;
      await api.send('PATCH', of, { status });
    }
    await sleep(200);
  }
  return { pod: restorer };
}

const tools = storageTools();
const assets = process.env.KUBEBUILDER_ASSETS;
describe.skipIf(!tools || !assets)('a backup in an S3 storage', () => {
  let etcd: EtcdProcess;
  let storage: StorageProcess;
  beforeAll(async () => {
    etcd = await startEtcd(path.join(assets ?? '', 'etcd'));
    storage = await startStorageProcess(tools ?? '', 'eu-test-1');
  }, 60_000);
  afterAll(async () => {
    await storage?.stop();
    await etcd?.stop();
  });

  it('is saved, restored, and refused where it was damaged there', async () => {
    const env = {
      ARC_ETCD_ENDPOINTS: etcd.endpoint,
      ARC_BACKUP_TARGET: `${storage.url}/bucket/arc`,
      ARC_BACKUP_ACCESS_KEY_ID: storage.keys.accessKeyID,
      ARC_BACKUP_SECRET_ACCESS_KEY: storage.keys.secretAccessKey,
    };
    const options = { endpoints: [etcd.endpoint], prefix: '/arc/' };
    const key = '/registry/arc.opendefense.cloud/orders/team/a';
    const value = Buffer.from('{"metadata":{"name":"a"}}');
    const store = await openEtcdStore(options);
    await store.create(key, value);
    await apiServer(['backup'], env);
    const stored = path.join(storage.objects, 'arc');
    const [name = ''] = await readdir(stored);
    expect(name).toMatch(/^arc-\d{8}T\d{6}Z\.backup\.gz$/);
    const { item } = await store.get(key);
    await store.delete(key, item?.revision ?? 0);
    await store.close();
    await apiServer(['restore', name], env);
    const again = await openEtcdStore(options);
    expect((await again.get(key)).item?.value).toEqual(new Uint8Array(value));
    await again.close();

    const whole = await readFile(path.join(stored, name));
    await writeFile(path.join(stored, name), whole.subarray(0, whole.length - 20));
    await expect(apiServer(['restore', name], env)).rejects.toThrow('not a whole backup');
    await expect(apiServer(['restore', 'other.backup.gz'], env)).rejects.toThrow('other.backup.gz');
  }, 120_000);
});
