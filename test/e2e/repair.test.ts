import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  artifactWorkflows,
  clusterArtifactTypes,
  clusterWorkflowTemplates,
  endpoints,
  namespaces,
  orders,
  secrets,
  workflows,
} from '#shared/domain';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { type Conduit, startConduit, type Tenant } from '../fixtures/standalone/conduit.ts';

let conduit: Conduit;
let gates: string;

// The image `test/gated:1` waits until its gate, which the artifact names, is open; then it has succeeded.
const gated = `
until [ -e "$0/$(grep -o 'gate-[a-z-]*' "$ARC_CONFIG_DIR/job.json" | head -n 1)" ]; do sleep 0.1; done
printf '{"outcome":"succeeded"}' > "$ARC_RESULT_FILE"`;
const open = (gate: string) => writeFile(path.join(gates, `gate-${gate}`), '');
const behind = (gate: string) => ({
  type: 'gated',
  spec: { image: 'team/app:1.0', override: `team/${gate}:1.0`, gate: `gate-${gate}` },
});
const light = { type: 'light', spec: { image: 'team/app:1.0' } };

beforeAll(async () => {
  gates = await mkdtemp(path.join(os.tmpdir(), 'arc-gates-'));
  conduit = await startConduit({ programs: { 'test/gated:*': ['/bin/sh', '-c', gated, gates] } });
  await conduit.typeOf('gated', 'test/gated:1');
  await conduit.typeOf('light', 'test/light:1');
});
afterAll(async () => {
  await conduit?.close();
  await rm(gates, { recursive: true, force: true });
});

/** An Order of one artifact whose worker is under way and waits. */
async function underWay(name: string): Promise<{ tenant: Tenant; child: string; pid: number }> {
  const tenant = await conduit.tenant(name);
  await tenant.order('order', [behind(name)]);
  const pid = await workerOf(name);
  const [child] = await tenant.children();
  return { tenant, child: child?.metadata.name ?? '', pid };
}

/** The process that waits at this gate; not one of `but`. */
async function workerOf(gate: string, ...but: number[]): Promise<number> {
  const runs = path.join(conduit.folder, 'state/runs');
  let found = 0;
  await eventually(`a worker at gate ${gate}`, 30_000, async () => {
    for (const run of await readdir(runs)) {
      const read = (file: string) => readFile(path.join(runs, run, file), 'utf8').catch(() => '');
      if (!(await read('volumes/0/job.json')).includes(`gate-${gate}"`)) continue;
      const { pid } = JSON.parse((await read('process.json')) || '{}');
      if (pid === undefined || but.includes(pid)) continue;
      found = pid;
      return;
    }
    throw new Error('none runs');
  });
  return found;
}

async function gone(pid: number): Promise<void> {
  await eventually(`process ${pid} to end`, 30_000, () => {
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
}

async function deleted(tenant: Tenant): Promise<void> {
  await eventually(`everything of Order ${tenant.namespace}/order to go`, 30_000, async () => {
    const { namespace } = tenant;
    expect(await conduit.api.get(orders, { namespace, name: 'order' })).toBeUndefined();
    expect(await tenant.children()).toEqual([]);
    expect((await conduit.api.list(workflows, { namespace })).items).toEqual([]);
    const left = (await conduit.api.list(secrets, { namespace })).items.map(({ metadata }) => metadata.name);
    expect(left.filter((name) => name !== 'credentials')).toEqual([]);
  });
}

describe.concurrent('what is deleted while its artifact is unfinished comes back', {
  timeout: 300_000,
}, () => {
  it('an ArtifactWorkflow, once its worker has ended', async () => {
    const { tenant, child, pid } = await underWay('child');
    const before = await tenant.read(artifactWorkflows, child);
    await conduit.api.delete(artifactWorkflows, { namespace: 'child', name: child });
    await gone(pid);
    await workerOf('child', pid);
    await open('child');
    await tenant.ended('order');
    const after = await tenant.read(artifactWorkflows, child);
    expect(after.metadata.uid).not.toBe(before.metadata.uid);
  });

  it('a Workflow', async () => {
    const { tenant, child, pid } = await underWay('workflow');
    await conduit.api.delete(workflows, { namespace: 'workflow', name: child });
    await gone(pid);
    await workerOf('workflow', pid);
    await open('workflow');
    await tenant.ended('order');
    expect((await tenant.read(artifactWorkflows, child)).status).toMatchObject({
      phase: 'Succeeded',
      attempts: 1,
    });
  });

  it('a rendered Secret, before it was used', async () => {
    const tenant = await conduit.tenant('secret');
    await tenant.order('order', [light], { suspend: true });
    await eventually('the Secret', 30_000, async () => {
      const [child] = await tenant.children();
      expect(child?.status?.configSecret?.name).toMatch(/^order-/);
    });
    const [child] = await tenant.children();
    await conduit.api.delete(secrets, { namespace: 'secret', name: child?.metadata.name ?? '' });
    await tenant.patch(orders, 'order', { spec: { suspend: null } });
    await tenant.ended('order');
  });

  it('a rendered Secret that is in use is missed by nobody', async () => {
    const { tenant, child } = await underWay('used');
    await conduit.api.delete(secrets, { namespace: 'used', name: child });
    await open('used');
    await tenant.ended('order');
  });
});

describe.concurrent('what is no longer wanted is stopped', { timeout: 300_000 }, () => {
  it('an artifact that is taken out of its Order, and no other', async () => {
    const tenant = await conduit.tenant('taken');
    await tenant.order('order', [behind('taken-out'), behind('kept-in')]);
    const [out, kept] = [await workerOf('taken-out'), await workerOf('kept-in')];
    await tenant.patch(orders, 'order', { spec: { artifacts: [behind('kept-in')] } });
    await gone(out);
    expect(() => process.kill(kept, 0)).not.toThrow();
    await open('kept-in');
    const { status } = await tenant.ended('order');
    expect(status?.counts).toMatchObject({ total: 1, succeeded: 1 });
  });

  it('an artifact that is forced to run again while it runs', async () => {
    const { tenant, child, pid } = await underWay('forced');
    const forceAt = String(Math.floor(Date.now() / 1000));
    await tenant.patch(orders, 'order', {
      metadata: { annotations: { 'arc.opendefense.cloud/force-at': forceAt } },
    });
    await gone(pid);
    await workerOf('forced', pid);
    await open('forced');
    await tenant.ended('order');
    expect((await tenant.children()).map(({ metadata }) => metadata.name)).not.toContain(child);
  });
});

describe.concurrent('what is finished stays finished', { timeout: 300_000 }, () => {
  it('though its Workflow is cleaned away', async () => {
    const tenant = await conduit.tenant('cleaned');
    await tenant.order('order', [light]);
    await tenant.ended('order');
    const [name = ''] = tenant.started();
    await conduit.api.delete(workflows, { namespace: 'cleaned', name });
    await tenant.settled();
    expect((await conduit.api.list(workflows, { namespace: 'cleaned' })).items).toEqual([]);
    expect((await tenant.ended('order')).status?.counts).toMatchObject({ succeeded: 1 });
  });
});

describe.concurrent('an Order goes on when what it lacks appears', { timeout: 300_000 }, () => {
  it('an Endpoint and the Secret it needs', async () => {
    const tenant = await conduit.tenant('late-endpoint');
    await tenant.order('order', [{ ...light, srcRef: { name: 'late' } }]);
    const { status } = await tenant.ended('order', 'Failed');
    expect(status?.message).toContain('source Endpoint "late" not found');
    expect(status?.counts).toMatchObject({ invalid: 1 });
    await tenant.endpoint('late', {
      type: 'oci',
      remoteURL: conduit.source.url,
      secretRef: { name: 'credentials' },
    });
    await tenant.ended('order');
  });

  it('a type', async () => {
    const tenant = await conduit.tenant('late-type');
    await tenant.order('order', [{ ...light, type: 'late-type' }]);
    const { status } = await tenant.ended('order', 'Failed');
    expect(status?.message).toContain('artifact type "late-type" not found');
    await conduit.typeOf('late-type', 'test/light:1');
    await tenant.ended('order');
  });

  it('the keys of a Secret: until then the Order says which it has none of', async () => {
    const tenant = await conduit.tenant('late-keys');
    await tenant.secret('empty', { user: 'mover' });
    await tenant.endpoint('keyless', {
      type: 'oci',
      remoteURL: conduit.source.url,
      secretRef: { name: 'empty' },
    });
    await tenant.order('order', [{ ...light, srcRef: { name: 'keyless' } }]);
    await tenant.when('order', 'what the Secret lacks', ({ status }) =>
      Object.values(status?.artifactWorkflows ?? {}).some(
        ({ phase, message }) =>
          phase === 'Pending' && message?.startsWith('Secret "empty" has none of: username'),
      ),
    );
    await tenant.patch(secrets, 'empty', { stringData: { username: 'mover', password: 'x' } });
    // An edit of the Endpoint has its Secret looked at now and not within the minute.
    await tenant.patch(endpoints, 'keyless', { metadata: { annotations: { looked: 'again' } } });
    await tenant.ended('order');
  });

  it('a template', async () => {
    await conduit.typeOf('late-template', 'test/light:1');
    const template = await conduit.api.get(clusterWorkflowTemplates, { name: 'late-template' });
    if (!template) throw new Error('no template');
    await conduit.api.delete(clusterWorkflowTemplates, { name: 'late-template' });
    const tenant = await conduit.tenant('late-template');
    await tenant.order('order', [{ ...light, type: 'late-template' }]);
    await tenant.when('order', 'the missing template to be named', ({ status }) =>
      /"late-template" not found/.test(
        status?.artifactWorkflows
          ? JSON.stringify(Object.values(status.artifactWorkflows)).replaceAll('\\', '')
          : '',
      ),
    );
    const { resourceVersion: _, uid: __, ...metadata } = template.metadata;
    await conduit.api.create(clusterWorkflowTemplates, { ...template, metadata });
    await tenant.ended('order');
  });
});

describe.concurrent('an Order that is deleted while it runs', { timeout: 300_000 }, () => {
  it('stops its workers and takes everything along', async () => {
    const { tenant, pid } = await underWay('deleted');
    await conduit.api.delete(orders, { namespace: 'deleted', name: 'order' });
    await gone(pid);
    await deleted(tenant);
  });

  it('stops its workers and waits for everything when it is deleted in the foreground', async () => {
    const { tenant, pid } = await underWay('foreground');
    const key = { namespace: 'foreground', name: 'order' };
    await conduit.api.delete(orders, key, { propagationPolicy: 'Foreground' });
    await gone(pid);
    await deleted(tenant);
  });

  it('leaves its children alone where it is told to: they finish without it', async () => {
    const { tenant, child } = await underWay('orphan');
    const key = { namespace: 'orphan', name: 'order' };
    await conduit.api.delete(orders, key, { propagationPolicy: 'Orphan' });
    await eventually('the Order to go', 30_000, async () =>
      expect(await conduit.api.get(orders, key)).toBeUndefined(),
    );
    await open('orphan');
    await eventually('its ArtifactWorkflow to succeed', 30_000, async () =>
      expect((await tenant.read(artifactWorkflows, child)).status?.phase).toBe('Succeeded'),
    );
    expect((await tenant.read(artifactWorkflows, child)).metadata.ownerReferences ?? []).toEqual([]);
  });

  it('goes though its Endpoints and their Secret went first', async () => {
    const { tenant, pid } = await underWay('bereft');
    for (const name of ['source', 'destination'])
      await conduit.api.delete(endpoints, { namespace: 'bereft', name });
    await conduit.api.delete(secrets, { namespace: 'bereft', name: 'credentials' });
    await conduit.api.delete(orders, { namespace: 'bereft', name: 'order' });
    await gone(pid);
    await deleted(tenant);
  });

  it('goes with its namespace', async () => {
    const { tenant, pid } = await underWay('doomed');
    await conduit.api.delete(namespaces, { name: 'doomed' });
    await gone(pid);
    await deleted(tenant);
    await eventually('the namespace to go', 30_000, async () =>
      expect(await conduit.api.get(namespaces, { name: 'doomed' })).toBeUndefined(),
    );
  });

  it('goes before anything of it has started', async () => {
    const tenant = await conduit.tenant('unborn');
    await tenant.order('order', [behind('unborn')], { suspend: true });
    await tenant.when('order', 'Suspended', ({ status }) => status?.phase === 'Suspended');
    await conduit.api.delete(orders, { namespace: 'unborn', name: 'order' });
    await deleted(tenant);
  });
});

describe('a type and its template that go while an artifact runs', { timeout: 300_000 }, () => {
  it('hold up neither its end nor the deletion of its Order', async () => {
    await conduit.typeOf('mortal', 'test/gated:1');
    const tenant = await conduit.tenant('mortal');
    await tenant.order('order', [{ ...behind('mortal'), type: 'mortal' }]);
    const pid = await workerOf('mortal');
    await conduit.api.delete(clusterArtifactTypes, { name: 'mortal' });
    await conduit.api.delete(clusterWorkflowTemplates, { name: 'mortal' });
    await tenant.settled();
    expect(() => process.kill(pid, 0)).not.toThrow();
    await conduit.api.delete(orders, { namespace: 'mortal', name: 'order' });
    await gone(pid);
    await deleted(tenant);
  });
});
