import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Manifest, parseManifests } from '#shared/local';
import { releaseChart } from '../../scripts/release/chart.ts';
import type { ReleaseContext } from '../../scripts/release/context.ts';
import { overlays, renderFolder } from '../../scripts/release/manifests.ts';
import { releaseJudges } from '../fixtures/judges/release-judges.ts';

const assets = releaseJudges();
if (!assets) console.log('skipped: the chart of a release needs KUBEBUILDER_ASSETS with .ci/helm/build.sh');
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
const image = 'registry.example.com/artifact-conduit:v0.0.1';

describe.skipIf(!assets)('the Helm chart of a release', () => {
  let folder = '';
  let chart = '';
  let context: ReleaseContext;
  const searchPath = process.env.PATH;

  beforeAll(async () => {
    process.env.PATH = `${assets}:${searchPath}`;
    folder = await mkdtemp(path.join(os.tmpdir(), 'arc-chart-'));
    const signal = new AbortController().signal;
    const release = { folder, workFolder: folder, version: '0.0.1', time: 1, image: 'unused', url: 'unused' };
    context = { ...release, note: () => undefined, signal };
    chart = await releaseChart(context, image);
  });
  afterAll(async () => {
    process.env.PATH = searchPath;
    if (folder !== '') await rm(folder, { recursive: true });
  });

  async function helm(...args: string[]): Promise<string> {
    const env = { PATH: '/usr/bin:/bin', HOME: folder };
    const { stdout } = await promisify(execFile)(path.join(assets ?? '', 'helm'), args, {
      env,
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout;
  }
  const set = (values: readonly string[]) => values.flatMap((value) => ['--set-string', value]);
  const rendered = async (...values: string[]) =>
    parseManifests(await helm('template', 'arc', chart, '-n', 'arc-system', ...set(values)), 'helm');
  const keyOf = ({ apiVersion, kind, metadata }: Manifest) =>
    `${apiVersion} ${kind} ${metadata.namespace ?? ''} ${metadata.name}`;
  const byKey = (objects: readonly Manifest[]) =>
    Object.fromEntries(objects.map((object) => [keyOf(object), object]).toSorted());
  /** What kustomize makes, without the namespace, which Helm's user makes. */
  const overlay = async (name: string) =>
    parseManifests(await renderFolder(`overlays/${name}`, image, context.signal), name).filter(
      ({ kind }) => kind !== 'Namespace',
    );

  it('passes helm lint', async () => {
    expect(await helm('lint', '--strict', chart)).toContain('0 chart(s) failed');
  });

  it.each(overlays)('renders to the objects of overlays/%s', async (name) => {
    expect(byKey(await rendered(`overlay=${name}`))).toEqual(byKey(await overlay(name)));
  });

  it('gives the namespaces of a value to ARC as knative/tenant does', async () => {
    const before = (await rendered()).map(keyOf);
    const added = (await rendered('tenants={demo,team}')).filter((object) => !before.includes(keyOf(object)));
    const text = await promisify(execFile)('kubectl', ['kustomize', 'knative/tenant']);
    const wanted = parseManifests(text.stdout, 'tenant').flatMap((object) =>
      ['demo', 'team'].map((namespace) => ({ ...object, metadata: { ...object.metadata, namespace } })),
    );
    const withoutSubjects = (objects: readonly Manifest[]) =>
      byKey(objects.map(({ subjects: _, ...object }) => object as Manifest));
    expect(withoutSubjects(added)).toEqual(withoutSubjects(wanted));
    const workers = added.filter(
      ({ kind, metadata }) => `${kind} ${metadata.name}` === 'RoleBinding arc-workflow',
    );
    expect(workers.map(({ subjects }) => subjects)).toMatchObject([
      [{ kind: 'ServiceAccount', name: 'arc-workflow', namespace: 'demo' }],
      [{ kind: 'ServiceAccount', name: 'arc-workflow', namespace: 'team' }],
    ]);
  });

  it('puts images, pull secrets, settings and storage where they belong', async () => {
    const objects = await rendered(
      ...[
        'image=inside/arc:1',
        'etcd.image=inside/etcd:1',
        'imagePullSecrets[0].name=mirror',
        'tenants={demo}',
      ],
      ...['settings.limits\\.rerunsPerMinute=5', 'etcd.storage=2Gi', 'etcd.storageClassName=fast'],
    );
    const images = new Set(JSON.stringify(objects).match(/(?<="image":")[^"]*/g));
    expect([...images].toSorted()).toEqual(['inside/arc:1', 'inside/etcd:1']);
    const accounts = objects.filter(({ kind }) => kind === 'ServiceAccount');
    expect(accounts.length).toBeGreaterThan(10);
    for (const account of accounts) expect(account.imagePullSecrets).toEqual([{ name: 'mirror' }]);
    const one = (kind: string, name: string) =>
      objects.find((object) => object.kind === kind && object.metadata.name === name);
    expect(one('ConfigMap', 'arc-settings')).toMatchObject({ data: { 'limits.rerunsPerMinute': '5' } });
    expect(one('StatefulSet', 'etcd')).toMatchObject({
      spec: {
        volumeClaimTemplates: [
          { spec: { storageClassName: 'fast', resources: { requests: { storage: '2Gi' } } } },
        ],
      },
    });
  });

  it.each([
    ['overlay=staging', '/overlay'],
    ['tenants={Demo}', '/tenants/0'],
    ['tenants={kube-system}', '/tenants/0'],
    ['tenant={demo}', 'tenant'],
    ['etcd.storage=much', '/etcd/storage'],
    ['imagePullSecrets={mirror}', '/imagePullSecrets/0'],
    ['image=', '/image'],
  ])('refuses %s', async (value, where) => {
    await expect(rendered(value)).rejects.toThrow(where);
  });

  it('is for its namespace only', async () => {
    await expect(helm('template', 'arc', chart, '-n', 'other')).rejects.toThrow('--namespace arc-system');
  });

  it('has the same bytes again', async () => {
    const before = await readFile(chart);
    expect(await readFile(await releaseChart(context, image))).toEqual(before);
  });
});
