import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestOf } from '#shared/transfer';
import { chartYaml, packChart } from '../../../shared/transfer/testing/charts.ts';
import { registryTools } from '../../fixtures/image/registry-tools.ts';
import { ended } from './conduit.ts';
import type { Registries } from './images.ts';
import { apply, field, kubectl } from './kubectl.ts';
import { objects, orderOf } from './team.ts';

const minutes = 60_000;
/** More than a packet; base64 of it has to fit into the annotation that kubectl apply leaves. */
const release = Buffer.alloc(150 * 1024, 'bytes that are not all the same');

/** Files and charts, moved by Argo's pods: curl, crane and Helm's own library say what has arrived. */
export function describeTypes(registries: () => Registries): void {
  describe('every type of artifact', { timeout: 8 * minutes }, () => {
    let chart: Buffer;

    beforeAll(async () => {
      chart = await packChart({
        'Chart.yaml': chartYaml('demo', '1.2.0'),
        'values.yaml': 'image: { repository: source.registries.svc:5000/charts/app, tag: "1.0" }\n',
      });
      const digest = digestOf(chart).slice('sha256:'.length);
      const entry = `- { name: demo, version: 1.2.0, digest: ${digest}, urls: [demo.tgz] }`;
      await apply({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'web', namespace: 'registries' },
        data: { 'index.yaml': `apiVersion: v1\nentries:\n  demo:\n  ${entry}\n` },
        binaryData: { 'release.bin': release.toString('base64'), 'demo.tgz': chart.toString('base64') },
      });
      await kubectl('apply', '-f', objects('sources.yaml'));
      for (const name of ['web', 'storage'])
        await kubectl('-n', 'registries', 'rollout', 'status', `deployment/${name}`, '--timeout=120s');
    }, 4 * minutes);

    afterAll(async () => {
      await kubectl('delete', '-f', objects('sources.yaml'), '--ignore-not-found');
      await kubectl('-n', 'registries', 'delete', 'configmap', 'web', '--ignore-not-found');
    }, 2 * minutes);

    it('moves a file from a web server into an S3 storage, and from there into a registry', async () => {
      const sha256 = digestOf(release);
      await moved('stored', {
        type: 'file',
        srcRef: { name: 'downloads' },
        dstRef: { name: 'storage' },
        spec: { path: 'release.bin', override: 'copies/release 1.bin', sha256 },
      });
      expect(digestOf(await stored('pre/copies/release%201.bin'))).toBe(sha256);

      await moved('pushed', {
        type: 'file',
        srcRef: { name: 'storage' },
        spec: { path: 'copies/release 1.bin', override: 'files/release:1.0' },
      });
      const { manifest, destination } = registries();
      expect(JSON.parse(await manifest(`${destination}/mirror/files/release:1.0`))).toMatchObject({
        layers: [{ digest: sha256, size: release.length }],
      });
    });

    it('moves the files of a prefix of an S3 storage', async () => {
      const storage = { srcRef: { name: 'storage' }, dstRef: { name: 'storage' } };
      await moved('folder', { type: 'file', ...storage, spec: { path: 'copies/', override: 'mirror/' } });
      expect(digestOf(await stored('pre/mirror/release%201.bin'))).toBe(digestOf(release));
    });

    it('moves a chart from an index into a registry, where Helm finds it unchanged', async () => {
      await moved('chart', {
        type: 'helm',
        srcRef: { name: 'charts' },
        spec: { chart: 'demo', version: '^1.0', repo: 'charts' },
      });
      const { destination } = registries();
      expect(await pulledByHelm(`${destination}/mirror/charts/demo:1.2.0`)).toMatchObject({
        chart: digestOf(chart),
        name: 'demo',
        version: '1.2.0',
      });
    });

    it('moves a chart from a registry with the image that it names', async () => {
      const { seed, seedChart, digest, destination } = registries();
      const image = await seed('charts/app', '1.0');
      await seedChart('charts/demo', chart);
      await moved('release', {
        type: 'helm',
        spec: { chart: 'demo', repo: 'charts', override: 'releases/demo', withImages: true },
      });
      expect(await digest(`${destination}/mirror/charts/app:1.0`)).toBe(image);
      expect(await pulledByHelm(`${destination}/mirror/releases/demo:1.2.0`)).toMatchObject({
        chart: digestOf(chart),
      });
    });
  });
}

/** Orders one artifact, and removes the Order once it has arrived. */
export async function moved(name: string, artifact: object): Promise<void> {
  await apply(orderOf(name, [{ name, ...artifact }]));
  expect(
    await ended('team', name),
    await field('{.status.artifactWorkflows}', '-n', 'team', 'order', name),
  ).toBe('Succeeded');
  await kubectl('-n', 'team', 'delete', 'order', name);
}

/** What curl, which signs requests by itself, reads from the bucket. */
async function stored(file: string): Promise<Buffer> {
  const host = await field('{.spec.clusterIP}', '-n', 'registries', 'service', 'storage');
  const { stdout } = await promisify(execFile)(
    'curl',
    [
      ...['--silent', '--show-error', '--fail', '--aws-sigv4', 'aws:amz:eu-west-3:s3'],
      ...['--header', 'x-amz-content-sha256: UNSIGNED-PAYLOAD'],
      ...['--user', 'test-account:test-secret-key', `http://${host}:7070/bucket/${file}`],
    ],
    { encoding: 'buffer', timeout: minutes },
  );
  return stdout;
}

async function pulledByHelm(reference: string): Promise<unknown> {
  const judge = path.join(registryTools() ?? '', 'helm-judge');
  const { stdout } = await promisify(execFile)(judge, ['pull', reference], { timeout: minutes });
  return JSON.parse(stdout);
}
