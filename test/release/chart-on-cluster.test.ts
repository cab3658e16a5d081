import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { releaseChart } from '../../scripts/release/chart.ts';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { arc, dev, ended, letGo, uninstall, untilReady } from '../cluster/knative/conduit.ts';
import { type Registries, reachRegistries } from '../cluster/knative/images.ts';
import { apply, field, kubectl, lines } from '../cluster/knative/kubectl.ts';
import { objects, order, removeTeam } from '../cluster/knative/team.ts';

// The chart of a release, by Helm itself: each part goes on where the one before ended.
const minutes = 60_000;
let folder = '';
let chart = '';
let registries: Registries;

async function helm(...args: string[]): Promise<string> {
  const env = { ...process.env, HELM_CACHE_HOME: folder, HELM_CONFIG_HOME: folder, HELM_DATA_HOME: folder };
  const running = promisify(execFile)('helm', [...args, '-n', arc], { env, timeout: 5 * minutes });
  return (await running).stdout.trimEnd();
}

/** The values of the tests: the image of the node, and those that are given. */
function change(verb: 'install' | 'upgrade', ...values: string[]): Promise<string> {
  const all = ['overlay=dev', 'image=dev.local/artifact-conduit:dev', ...values];
  return helm(verb, 'arc', chart, ...all.flatMap((value) => ['--set-string', value]));
}

const setting = () => field('{.data.limits\\.rerunsPerMinute}', '-n', arc, 'configmap', 'arc-settings');
const pullSecrets = (namespace: string, account: string) =>
  field('{.imagePullSecrets[*].name}', '-n', namespace, 'serviceaccount', account);

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-chart-'));
  const signal = AbortSignal.timeout(minutes);
  const release = { folder, workFolder: folder, version: '0.0.1', time: 0, image: 'unused.example.com/arc' };
  const context = { ...release, url: 'https://example.com', note: () => undefined, signal };
  chart = await releaseChart(context, 'unused.example.com/arc:v0.0.1');
  await removeTeam();
  await uninstall(dev);
  for (const volume of dev.volumes) await letGo(volume);
  await kubectl('create', 'namespace', arc, '--save-config');
  await kubectl('label', 'namespace', arc, 'pod-security.kubernetes.io/enforce=restricted');
  await kubectl('create', 'namespace', 'team', '--save-config');
  await kubectl('apply', '-f', objects('registries.yaml'));
}, 10 * minutes);

afterAll(async () => {
  await removeTeam();
  await kubectl('delete', 'namespace', arc, '--ignore-not-found');
  await rm(folder, { recursive: true, force: true });
}, 6 * minutes);

describe('the chart', { timeout: 8 * minutes }, () => {
  it('is installed into its namespace only', async () => {
    await expect(promisify(execFile)('helm', ['template', 'arc', chart, '-n', 'default'])).rejects.toThrow(
      'ARC runs in the namespace arc-system',
    );
  });

  it('installs all of ARC', async () => {
    await change('install', 'tenants={team}');
    await untilReady();
    await kubectl('delete', 'orders', '--all', '-A');
    await kubectl('apply', '-f', objects('team.yaml'));
  });

  it('gives the namespaces of its value to ARC, where Orders run', async () => {
    for (const name of ['source', 'destination'])
      await kubectl('-n', 'registries', 'rollout', 'status', `deployment/${name}`, '--timeout=120s');
    registries = await reachRegistries();
    const digest = await registries.seed('chaos/by-chart', '1.0');
    await apply(order('by-chart', ['a']));
    expect(await ended('team', 'by-chart')).toBe('Succeeded');
    expect(await registries.digest(`${registries.destination}/mirror/by-chart/a:1.0`)).toBe(digest);
  });

  it('is upgraded to other values, and what runs is not replaced by others', async () => {
    const store = await field('{.metadata.uid}', '-n', arc, 'pod', 'etcd-0');
    await change(
      'upgrade',
      ...['tenants={team}', 'imagePullSecrets[0].name=mirror'],
      'settings.limits\\.rerunsPerMinute=100',
    );
    await untilReady();
    expect(await setting()).toBe('100');
    expect(await pullSecrets('team', 'arc-workflow')).toBe('mirror');
    expect(await pullSecrets(arc, 'decompose-order')).toBe('mirror');
    expect(await field('{.metadata.uid}', '-n', arc, 'pod', 'etcd-0')).toBe(store);
  });

  it('refuses values that its schema does not know', async () => {
    await expect(change('upgrade', 'tenant={team}')).rejects.toThrow(/tenant/);
  });

  it('is rolled back to the values before, and Orders go on', async () => {
    await helm('rollback', 'arc', '1');
    await untilReady();
    expect(await setting()).toBe('');
    expect(await pullSecrets('team', 'arc-workflow')).toBe('');
    expect(await field('{.status.phase}', '-n', 'team', 'order', 'by-chart')).toBe('Succeeded');
    await registries.seed('chaos/after-rollback', '1.0');
    await apply(order('after-rollback', ['a']));
    expect(await ended('team', 'after-rollback')).toBe('Succeeded');
  });

  it('is uninstalled without hanging, and leaves only data, certificates and keys', async () => {
    await kubectl('delete', 'orders', '--all', '-A');
    await helm('uninstall', 'arc');
    const ofArc = async (kind: string, ...where: string[]) =>
      lines('get', kind, ...where, '-l', 'app.kubernetes.io/part-of=arc', '-o', 'name');
    await eventually('the objects of ARC to go', 2 * minutes, async () => {
      for (const kind of ['clusterroles', 'clusterrolebindings', 'clusterworkflowtemplates', 'apiservices'])
        expect(await ofArc(kind)).toEqual([]);
      expect(await lines('-n', arc, 'get', 'pods', '-o', 'name')).toEqual([]);
    });
    expect(await lines('-n', 'team', 'get', 'rolebindings', '-o', 'name')).not.toContain(
      'rolebinding.rbac.authorization.k8s.io/arc-render-secret-tenant',
    );
    expect(await lines('-n', arc, 'get', 'persistentvolumeclaims', '-o', 'name')).toEqual([
      'persistentvolumeclaim/data-etcd-0',
    ]);
  });
});
