import { generateKeyPairSync } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endpoints, orders } from '#shared/domain';
import { type Manifest, parseManifests, seedImage } from '#shared/local';
import { apply } from '../../scripts/demo/apply.ts';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { chartYaml, packChart, seedChart } from '../../shared/transfer/testing/charts.ts';
import { startS3Server } from '../../shared/transfer/testing/s3-server.ts';
import { startWebServer } from '../../shared/transfer/testing/web-server.ts';
import {
  type Conduit,
  startConduit,
  type Tenant,
  visible,
  workerCommand,
} from '../fixtures/standalone/conduit.ts';

const keys = generateKeyPairSync('ed25519');
const signKey = String(keys.privateKey.export({ format: 'pem', type: 'pkcs8' }));
const trust = String(keys.publicKey.export({ format: 'pem', type: 'spki' }));

/** The first worker dies, like one that the kernel kills, when the file `now` is there. */
const killedOnce = `
if mkdir "$0/once" 2>/dev/null; then
  exec 3<&0; "$@" <&3 &
  while [ ! -e "$0/now" ]; do sleep 0.05; done
  kill -9 $!; kill -9 $$
fi
exec "$@"`;

let conduit: Conduit;
let folder: string;
let outside: Tenant;
let inside: Tenant;
const volume = ({ namespace }: Tenant, ...names: string[]) =>
  path.join(conduit.folder, 'state/claims', namespace, 'arc-bundles/release', ...names);

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-bundles-'));
  conduit = await startConduit({
    programs: { 'artifact-conduit:*': ['/bin/sh', '-c', killedOnce, folder, ...workerCommand(1)] },
  });
  for (const file of [
    'workflow-templates/bundle',
    'base/artifact-types/bundle-export',
    'base/artifact-types/bundle-import',
  ])
    for (const object of await manifestsOf(file)) await applied(object);
  [outside, inside] = [await conduit.tenant('outside'), await conduit.tenant('inside')];
  await seedImage(conduit.source, 'team/app', '1.0', { layers: 1, layerBytes: 64 * 1024 });
  await seedChart(conduit.source, 'charts/web', await packChart({ 'Chart.yaml': chartYaml('web', '1.2.3') }));
});
afterAll(async () => {
  await conduit?.close();
  await rm(folder, { recursive: true, force: true });
});

async function manifestsOf(name: string): Promise<Manifest[]> {
  const file = `knative/${name}.yaml`;
  return parseManifests(await readFile(file, 'utf8'), file);
}

const applied = (object: Manifest) => apply(conduit.api, object, AbortSignal.timeout(10_000));

/** The Order of an example with its Endpoints, in another namespace and with registries that are there. */
async function applyExample(name: string, { namespace }: Tenant, remoteURL: string): Promise<void> {
  for (const object of await manifestsOf(`examples/${name}`)) {
    const spec = object.spec as { remoteURL?: string; retry?: object };
    const isRegistry = spec.remoteURL?.startsWith('https:');
    // A worker that is killed has not said that it may be tried again: the example has a limit, and a backoff for people.
    const retry = name === 'bundle-export' && { retry: { ...spec.retry, backoff: '1s' } };
    const here = isRegistry ? { ...spec, remoteURL, secretRef: { name: 'credentials' } } : spec;
    const whole = object.kind === 'Order' ? { ...here, ...retry } : here;
    await applied({ ...object, metadata: { ...object.metadata, namespace }, spec: whole });
  }
}

// One story: each goes on where the one before has ended.
describe('a bundle', { shuffle: false }, () => {
  it('one Order writes a bundle, another one imports it: the examples', async () => {
    await outside.secret('bundle-keys', { 'sign.key': signKey });
    await inside.secret('bundle-keys', { 'trust.pub': trust });
    // The worker waits for this layer, and is killed meanwhile.
    const layer = /\/v2\/team\/app\/blobs\//;
    conduit.source.faults.add({ path: layer, fault: { kind: 'hang' }, times: 1 });
    await applyExample('bundle-export', outside, conduit.source.url);
    await eventually('the first worker to be at work', 60_000, async () => {
      expect(conduit.source.requests.some((request) => layer.test(request.path))).toBe(true);
    });
    await writeFile(path.join(folder, 'now'), '');
    await outside.ended('release');
    const [made] = await outside.children();
    expect(made?.status?.results).toMatchObject({ items: { total: 2, copied: 2 } });
    // Killed in its first attempt, and whole after the second one.
    expect(made?.status?.attempts).toBe(2);
    expect(await readdir(volume(outside))).toEqual([
      'release-1.arc-bundle.json',
      'release-1.arc-bundle.json.sig',
      'release-1.tar.001',
    ]);

    await applyExample('bundle-import', inside, `${conduit.destination.url}/outside`);
    await inside.when('release', 'waits for the bundle', ({ status }) =>
      JSON.stringify(status).includes('bring release-1.tar.001'),
    );
    await cp(volume(outside), volume(inside), { recursive: true });
    await inside.patch(orders, 'release', {
      metadata: { annotations: { 'arc.opendefense.cloud/force-at': String(Math.floor(Date.now() / 1000)) } },
    });
    await inside.ended('release');
    for (const [repository, tag] of [
      ['team/app', '1.0'],
      ['charts/web', '1.2.3'],
    ] as const) {
      const wanted = conduit.source.contents.get(repository);
      const found = conduit.destination.contents.get(`outside/${repository}`);
      expect(found?.tags.get(tag)).toBe(wanted?.tags.get(tag));
      expect([...(found?.manifests.keys() ?? [])].sort()).toEqual(
        [...(wanted?.manifests.keys() ?? [])].sort(),
      );
    }
    const digest = made?.status?.results?.digest;
    expect(JSON.parse(await readFile(volume(inside, 'release-1.receipt.json'), 'utf8'))).toMatchObject({
      bundle: digest,
      signature: 'verified',
    });
    expect(await visible(conduit)).not.toContain(signKey.split('\n')[1]);
  }, 180_000);

  it('tags, a chart with its images, and a file are carried in bundles', async () => {
    const web = await startWebServer();
    try {
      const file = Buffer.from('a handbook');
      web.files.set('/dist/handbook.pdf', { bytes: file, mediaType: 'application/pdf' });
      await outside.endpoint('web', { type: 'http', remoteURL: web.url });
      const light = { layers: 1, layerBytes: 1000, platforms: ['linux/amd64'], signature: false };
      for (const tag of ['1.0', '2.0', '2.1']) await seedImage(conduit.source, 'team/tool', tag, light);
      const values = `image: ${conduit.source.host}/team/app:1.0\n`;
      const chart = { 'Chart.yaml': chartYaml('shop', '1.0.0'), 'values.yaml': values };
      await seedChart(conduit.source, 'charts/shop', await packChart(chart, { folder: 'shop' }));
      const contents = [
        { image: 'team/tool', tags: { semver: '^2' } },
        { chart: 'shop', repo: 'charts', withImages: true },
      ];
      const [type, dstRef] = ['bundle-export', { name: 'disk' }];
      const files = [{ path: 'dist/handbook.pdf', override: 'files/handbook:1' }];
      await outside.order('more', [
        { name: 'selected', type, dstRef, spec: { name: 'selected', contents } },
        { name: 'files', type, dstRef, srcRef: { name: 'web' }, spec: { name: 'files', contents: files } },
      ]);
      await outside.ended('more');
      await cp(volume(outside), volume(inside), { recursive: true });
      const imports = ['selected', 'files'].map((name) => ({
        name,
        type: 'bundle-import',
        srcRef: { name: 'disk' },
        spec: { name },
      }));
      await inside.order('more', imports);
      await inside.ended('more');
      const there = (repository: string) => conduit.destination.contents.get(repository);
      expect([...(there('team/tool')?.tags.keys() ?? [])].toSorted()).toEqual(['2.0', '2.1']);
      for (const [repository, tag] of [
        ['team/app', '1.0'],
        ['charts/shop', '1.0.0'],
      ] as const)
        expect(there(repository)?.tags.get(tag)).toBe(conduit.source.contents.get(repository)?.tags.get(tag));
      expect([...(there('files/handbook')?.blobs.values() ?? [])]).toContainEqual(file);
    } finally {
      await web.close();
    }
  }, 180_000);

  it('a bundle that was changed on its way fails its Order, and nothing of it is sent', async () => {
    const [part] = [volume(inside, 'release-1.tar.001')];
    const bytes = await readFile(part);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    await writeFile(part, bytes);
    const before = conduit.destination.requests.length;
    await inside.order('again', [
      {
        type: 'bundle-import',
        srcRef: { name: 'disk' },
        dstRef: { name: 'mirror' },
        spec: { name: 'release-1' },
      },
    ]);
    const { status } = await inside.ended('again', 'Failed');
    expect(JSON.stringify(status)).toMatch(/Nothing was imported from .* damaged or was changed/);
    expect(conduit.destination.requests).toHaveLength(before);
  });

  it('one Order sends a bundle to a storage, another one fetches it: the example', async () => {
    const account = { accessKeyID: 'account', secretAccessKey: 'kept secret' };
    const storage = await startS3Server({ accessKeyID: account.accessKeyID });
    try {
      const [sender, receiver] = [await conduit.tenant('sender'), await conduit.tenant('receiver')];
      const [example] = await manifestsOf('examples/bundle-server');
      for (const [{ namespace, secret }, key] of [
        [sender, { 'sign.key': signKey }],
        [receiver, { 'trust.pub': trust }],
      ] as const) {
        await secret('bundle-keys', { ...key, ...account });
        const spec = { ...(example?.spec as object), remoteURL: `${storage.url}/bundles/release` };
        await applied({ ...(example as Manifest), metadata: { name: 'disk', namespace }, spec });
      }
      const [type, name] = ['bundle-export', 'release-2'];
      const contents = [{ image: 'team/app:1.0', override: 'sent/app' }];
      await sender.order('sent', [{ type, dstRef: { name: 'disk' }, spec: { name, contents } }]);
      await sender.ended('sent');
      await receiver.order('fetched', [{ type: 'bundle-import', srcRef: { name: 'disk' }, spec: { name } }]);
      await receiver.ended('fetched');
      expect(conduit.destination.contents.get('sent/app')?.tags.get('1.0')).toBe(
        conduit.source.contents.get('team/app')?.tags.get('1.0'),
      );
      expect([...storage.objects.keys()]).toContain('/bundles/release/release-2.receipt.json');
      expect(await visible(conduit)).not.toContain(account.secretAccessKey);
    } finally {
      await storage.close();
    }
  }, 180_000);

  it('an Endpoint says whether its keys can be used', async () => {
    await outside.secret('no-key', { 'sign.key': 'not a key' });
    await outside.endpoint('broken', {
      type: 'bundle',
      remoteURL: 'file:///x',
      secretRef: { name: 'no-key' },
    });
    await eventually('a condition', 30_000, async () => {
      const { status } = await outside.read(endpoints, 'broken');
      const found = status?.conditions?.find(({ type }) => type === 'Validated');
      expect(found).toMatchObject({
        status: 'False',
        reason: 'SecretInvalid',
        message: expect.stringContaining('sign.key'),
      });
    });
  });
});
