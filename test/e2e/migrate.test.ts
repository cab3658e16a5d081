import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ArtifactWorkflow,
  artifactWorkflows,
  endpoints,
  namespaces,
  type Order,
  orders,
} from '#shared/domain';
import { connect } from '../../scripts/arcctl/core/session.ts';
import { migrate } from '../../scripts/arcctl/migrate/migrate.ts';
import { createProgram } from '../../scripts/arcctl/program.ts';
import { type QuietIo, quietIo } from '../../scripts/arcctl/testing/quiet-io.ts';
import { startApi } from '../fixtures/standalone/api-server.ts';
import { type Conduit, startConduit, type Tenant } from '../fixtures/standalone/conduit.ts';

const { apiVersion } = orders;
const ended = '2026-01-02T03:04:05Z';
let conduit: Conduit;
let folder: string;
let kubeconfig: string;

beforeAll(async () => {
  conduit = await startConduit();
  await conduit.typeOf('light', 'test/light:1');
  kubeconfig = path.join(conduit.folder, 'state', 'kubeconfig');
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-migrate-'));
});
afterAll(async () => {
  await conduit?.close();
  await rm(folder, { recursive: true, force: true });
});

async function run(...args: string[]): Promise<QuietIo & { failure: unknown }> {
  const io = quietIo({ env: { KUBECONFIG: kubeconfig } });
  const failure: unknown = await createProgram(io)
    .parseAsync(['node', 'arcctl', 'migrate', ...args])
    .then(
      () => undefined,
      (caught: unknown) => caught,
    );
  return Object.assign(io, { failure });
}

/** What `kubectl get -o yaml` prints of several objects. */
async function dumped(...items: object[]): Promise<string> {
  const file = path.join(folder, 'dump.json');
  await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  return file;
}

const metadata = (tenant: Tenant, name: string) => ({
  name,
  namespace: tenant.namespace,
  uid: `go-${name}`,
  resourceVersion: '7',
  finalizers: ['arc.opendefense.cloud/order-finalizer'],
  annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
});

/** An Order of the Go ARC with as many artifacts as `phases` names; '' for one that was not begun. */
function foreignOrder(tenant: Tenant, name: string, phases: readonly string[], type = 'light') {
  const entries = phases.flatMap((phase, artifactIndex) => {
    if (phase === '') return [];
    const isOver =
      phase === 'Succeeded' ? { completionTime: ended } : { failureTime: ended, message: 'no such tag' };
    return [
      [
        `00000000000000${10 + artifactIndex}`,
        { artifactIndex, phase, ...(phase === 'Running' ? {} : isOver) },
      ],
    ];
  });
  return {
    apiVersion,
    kind: 'Order',
    metadata: metadata(tenant, name),
    spec: {
      defaults: { srcRef: { name: 'source' }, dstRef: { name: 'destination' } },
      artifacts: phases.map((_, index) => ({
        type,
        srcRef: { name: '' },
        spec: { image: `team/${name}-${index}:1.0` },
      })),
      ttl: '0s',
    },
    status: { artifactWorkflows: Object.fromEntries(entries), message: '' },
  };
}

const phasesOf = ({ status }: Order) =>
  Object.values(status?.artifactWorkflows ?? {})
    .toSorted((a, b) => a.artifactIndex - b.artifactIndex)
    .map(({ phase }) => phase);

describe('arcctl migrate', () => {
  it('takes an Order over with what had ended, which does not run again', async () => {
    const tenant = await conduit.tenant('moved');
    const file = await dumped(foreignOrder(tenant, 'app', ['Succeeded', 'Failed', '', 'Stopped']), {
      apiVersion,
      kind: 'Endpoint',
      metadata: metadata(tenant, 'more'),
      spec: { type: 'oci', remoteURL: conduit.source.url, secretRef: { name: '' }, usage: '' },
    });
    const dry = await run('-f', file, '--dry-run');
    expect([dry.failure, await conduit.api.get(orders, { namespace: 'moved', name: 'app' })]).toEqual([
      undefined,
      undefined,
    ]);
    const { printed, failure } = await run('-f', file);
    expect(failure).toBeUndefined();
    expect(printed).toEqual([
      'endpoint.arc.opendefense.cloud/more of moved migrated',
      'order.arc.opendefense.cloud/app of moved migrated: 3 of 3 are finished and do not run again',
    ]);
    const order = await tenant.when(
      'app',
      'its end',
      (one) => one.status?.phase === 'Failed' && phasesOf(one)[2] === 'Succeeded',
    );
    expect(phasesOf(order)).toEqual(['Succeeded', 'Failed', 'Succeeded', 'Stopped']);
    const [first, second] = Object.values(order.status?.artifactWorkflows ?? {}).toSorted(
      (a, b) => a.artifactIndex - b.artifactIndex,
    );
    expect(first?.completionTime).toBe(ended);
    expect(second?.message).toContain('no such tag');
    expect(order.spec).not.toHaveProperty('suspend');
    await tenant.settled();
    expect(tenant.started()).toHaveLength(1);
    expect((await tenant.read(endpoints, 'more')).spec).toMatchObject({ usage: 'All' });
    // Safe to repeat; and what had failed runs again on request.
    expect((await run('-f', file)).printed).toEqual([
      'endpoint.arc.opendefense.cloud/more of moved exists: skipped',
      'order.arc.opendefense.cloud/app of moved was migrated before',
    ]);
    const retryAt = {
      metadata: { annotations: { 'arc.opendefense.cloud/retry-at': String(Math.floor(Date.now() / 1000)) } },
    };
    await tenant.patch(orders, 'app', retryAt);
    await tenant.ended('app');
    expect(tenant.started()).toHaveLength(3);
  });

  it('leaves an Order suspended of which something may still run', async () => {
    const tenant = await conduit.tenant('going');
    const file = await dumped(foreignOrder(tenant, 'busy', ['Succeeded', 'Running']));
    const { printed, failure } = await run('-f', file);
    expect([failure, printed[0]]).toEqual([undefined, expect.stringContaining('It stays suspended')]);
    await tenant.settled();
    expect(tenant.started()).toEqual([]);
    await tenant.patch(orders, 'busy', { spec: { suspend: null } });
    await tenant.ended('busy');
    expect(tenant.started()).toHaveLength(1);
  });

  it('says what cannot be recorded, and goes on when it is there', async () => {
    const tenant = await conduit.tenant('lacking');
    const order = foreignOrder(tenant, 'odd', ['Succeeded'], 'later');
    const io = quietIo({ env: { KUBECONFIG: kubeconfig } });
    const cluster = await connect(io, {});
    const again = (patienceMs: number) => migrate({ io, cluster, dryRun: false, patienceMs }, [order]);
    expect(await again(3_000)).toEqual([
      expect.stringMatching(/^order.*odd of lacking: it stays suspended.*artifact 0: .*later/),
    ]);
    await conduit.typeOf('later', 'test/light:1');
    expect(await again(60_000)).toEqual([]);
    await tenant.ended('odd');
    expect(tenant.started()).toEqual([]);
  });

  it('reads the Go ARC where it still answers, and takes over what was made by hand', async () => {
    const tenant = await conduit.tenant('asked');
    await using old = await startApi();
    await old.admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'asked' } });
    const bare = { name: 'by-hand', namespace: 'asked' };
    const spec = {
      workflowTemplateRef: { name: 'light', clusterScope: true },
      parameters: [{ name: 'specImage', value: 'a:1' }],
    };
    const made = await old.admin.create<ArtifactWorkflow>(artifactWorkflows, {
      apiVersion,
      kind: 'ArtifactWorkflow',
      metadata: bare,
      spec,
    });
    const status = { phase: 'Succeeded', completionTime: ended };
    await old.admin.mergePatch(artifactWorkflows, made.metadata, { status }, { subresource: 'status' });
    const { printed, failure } = await run('--from-kubeconfig', old.kubeconfig, '-n', 'asked');
    expect([failure, printed]).toEqual([
      undefined,
      [
        'artifactworkflow.arc.opendefense.cloud/by-hand of asked migrated: 1 of 1 are finished and do not run again',
      ],
    ]);
    await tenant.settled();
    expect((await tenant.read(artifactWorkflows, 'by-hand')).status).toMatchObject({
      phase: 'Succeeded',
      completionTime: ended,
    });
    expect(tenant.started()).toEqual([]);
  });

  it('says what it needs to know', async () => {
    expect((await run()).failure).toMatchObject({ message: expect.stringContaining('name the source') });
    expect((await run('-f', await dumped())).failure).toMatchObject({
      message: expect.stringContaining('no objects of ARC'),
    });
  });
});
