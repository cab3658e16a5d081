import { generateKeyPairSync } from 'node:crypto';
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Job, JobEndpoint } from '#shared/domain';
import { type Registry, seedImage, startRegistry } from '#shared/embedded';
import { digestOf } from '#shared/transfer';
import { chartYaml, packChart, seedChart } from '../../../shared/transfer/testing/charts.ts';
import { startWebServer } from '../../../shared/transfer/testing/web-server.ts';
import { bundleJob } from './bundle-job.ts';

const pair = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    sign: String(privateKey.export({ format: 'pem', type: 'pkcs8' })),
    trust: String(publicKey.export({ format: 'pem', type: 'spki' })),
  };
};
const [maker, taker, other] = [pair(), pair(), pair()];
const content = Buffer.from('0123456789'.repeat(20_000));
const light = { platforms: ['linux/amd64'], layers: 2, layerBytes: 80 * 1024 };

let root = '';
let source: Registry;
let inside: Registry;
/** The volumes of both sides. */
const out = (...names: string[]) => path.join(root, 'out', 'bundles', ...names);
const into = (...names: string[]) => path.join(root, 'in', 'bundles', ...names);

beforeEach(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'arc-bundles-'));
  [source, inside] = [await startRegistry({}), await startRegistry({})];
});
afterEach(async () => {
  await Promise.all([source.close(), inside.close()]);
  await rm(root, { recursive: true });
});

const registry = (name: string, { url }: Registry): JobEndpoint => ({ name, type: 'oci', remoteURL: url });
const medium = (keys: JobEndpoint['keys']): JobEndpoint => ({
  name: 'medium',
  type: 'bundle',
  remoteURL: 'file:///bundles',
  ...(keys && { keys }),
});

function run(job: Job, side: 'out' | 'in', signal = new AbortController().signal) {
  const retry = { attempts: 1, baseMs: 1, maxMs: 2 };
  return bundleJob(job)?.({
    signal,
    retry,
    workDir: path.join(root, 'work'),
    bundleDir: path.join(root, side),
    maxBytes: 64 * 1024 ** 2,
  });
}

interface Export {
  signal?: AbortSignal;
  from?: JobEndpoint;
  keys?: JobEndpoint['keys'];
  policy?: string;
}
const image = { image: 'team/app:1.0' };
const exported = (
  spec: object,
  { signal, from = registry('registry', source), keys = { sign: maker.sign }, policy }: Export = {},
) =>
  run(
    {
      artifact: {
        type: 'bundle-export',
        spec: { name: 'first', contents: [image], partSize: '64KiB', ...spec },
      },
      source: from,
      destination: medium(keys),
      ...(policy !== undefined && { policy }),
    },
    'out',
    signal,
  );
const imported = (spec: object = {}, keys: JobEndpoint['keys'] = { trust: maker.trust, sign: taker.sign }) =>
  run(
    {
      artifact: { type: 'bundle-import', spec: { name: 'first', ...spec } },
      source: medium(keys),
      destination: { ...registry('mirror', inside), remoteURL: `${inside.url}/mirror` },
    },
    'in',
  );
/** As somebody does who carries a disk. */
const carry = () => cp(out(), into(), { recursive: true });
const writes = () => inside.count('POST') + inside.count('PUT') + inside.count('PATCH');

describe('a bundle of an Order', () => {
  it('carries images and a chart to the other side, with what refers to them, and a receipt back', async () => {
    const app = await seedImage(source, 'team/app', '1.0', light);
    await seedChart(source, 'charts/web', await packChart({ 'Chart.yaml': chartYaml('web', '1.2.3') }));
    const chart = source.contents.get('charts/web')?.tags.get('1.2.3');
    const made = await exported({
      contents: [
        { ...image, override: 'kept/app' },
        { chart: 'web', repo: 'charts', version: '^1' },
      ],
    });
    expect(made).toMatchObject({ items: { total: 2, copied: 2 }, bytes: { existed: 0 } });
    expect(
      (await readdir(out())).filter((name) => !/^first\.(tar\.\d{3}|arc-bundle\.json(\.sig)?)$/.test(name)),
    ).toEqual([]);
    await carry();
    const arrived = await imported({ digest: made?.digest });
    expect(arrived).toMatchObject({
      digest: made?.digest,
      referrers: 1,
      items: { total: 2, copied: 2, failed: 0 },
      warnings: [],
    });
    expect(inside.contents.get('mirror/kept/app')?.tags.get('1.0')).toBe(app.digest);
    expect(inside.contents.get('mirror/charts/web')?.tags.get('1.2.3')).toBe(chart);
    expect(JSON.parse(await readFile(into('first.receipt.json'), 'utf8'))).toMatchObject({
      bundle: made?.digest,
      signature: 'verified',
      items: [
        { name: 'kept/app:1.0', outcome: 'imported' },
        { name: 'charts/web:1.2.3', outcome: 'imported' },
      ],
    });
  });

  it('is made once, imported once, and never changes', async () => {
    await seedImage(source, 'team/app', '1.0', light);
    const made = await exported({});
    await carry();
    await imported();
    const [asked, sent] = [source.requests.length, writes()];
    expect(await exported({})).toMatchObject({
      digest: made?.digest,
      items: { unchanged: 1 },
      bytes: { copied: 0 },
    });
    expect(source.requests).toHaveLength(asked);
    expect(await imported()).toMatchObject({ items: { unchanged: 1 }, bytes: { copied: 0 } });
    expect(writes()).toBe(sent);
    await expect(exported({ contents: [{ image: 'team/app:2.0' }] })).rejects.toMatchObject({
      reason: 'config',
      message: expect.stringContaining('a bundle never changes: write another spec.name'),
    });
    await expect(exported({}, { keys: { sign: other.sign } })).rejects.toThrow('is not signed by sign.key');
  });

  it('tells the rules that it has passed, and is not written where they deny it', async () => {
    await seedImage(source, 'team/app', '1.0', light);
    const policy = (maxBytes: number) => JSON.stringify({ maxBytes });
    await expect(exported({}, { policy: policy(10) })).rejects.toMatchObject({ reason: 'denied-by-policy' });
    expect(await readdir(out())).toEqual([]);
    await exported({}, { policy: policy(10 ** 9) });
    expect(JSON.parse(await readFile(out('first.arc-bundle.json'), 'utf8')).policy).toBe(policy(10 ** 9));
  });

  it.each<[string, () => Promise<unknown>, RegExp]>([
    [
      'a byte that is another one',
      () => change(into('first.tar.002')),
      /damaged or changed|not a tar|record says/,
    ],
    [
      'a part that is cut',
      () => truncate(into('first.tar.002'), 100),
      /part .*002 has 100 bytes.*copy it again/,
    ],
    ['no second part', () => rm(into('first.tar.002')), /part .*002 is missing/],
    [
      'no last part',
      async () => rm(into((await partsIn(into())).at(-1) ?? '')),
      /is missing|shorter than it was written/,
    ],
  ])('with %s is refused before anything is sent', async (_, damage, message) => {
    await seedImage(source, 'team/app', '1.0', light);
    await exported({});
    await carry();
    await damage();
    await expect(imported()).rejects.toMatchObject({
      reason: 'permanent',
      message: expect.stringMatching(message),
    });
    expect(inside.requests).toEqual([]);
    expect(await readdir(into())).not.toContain('first.receipt.json');
    await carry();
    expect(await imported()).toMatchObject({ items: { copied: 1 } });
  });

  it('of another key, an old one under a new name, and one with another digest are refused', async () => {
    await seedImage(source, 'team/app', '1.0', light);
    await exported({});
    await carry();
    await expect(imported({}, { trust: other.trust })).rejects.toThrow('was not made with this key');
    await expect(imported({}, { sign: taker.sign })).rejects.toThrow('has no public key trust.pub');
    for (const part of await partsIn(into())) await rename(into(part), into(part.replace('first', 'second')));
    await expect(imported({ name: 'second' })).rejects.toThrow(
      /it is the bundle "first" of .*: carry "second" here again/,
    );
    await expect(imported()).rejects.toMatchObject({
      reason: 'retryable',
      message: expect.stringContaining('carry first.tar.001'),
    });
    await carry();
    await expect(imported({ digest: `sha256:${'0'.repeat(64)}` })).rejects.toThrow('was asked for');
    expect(inside.requests).toEqual([]);
    expect(await imported({}, { trust: `${other.trust}${maker.trust}` })).toMatchObject({
      items: { copied: 1 },
    });
  });

  it('goes on after an export that was stopped, and is whole after one that was killed between its files', async () => {
    await seedImage(source, 'team/app', '1.0', light);
    await seedImage(source, 'team/web', '1.0', light);
    source.faults.add({ path: /team\/web\/manifests/, fault: { kind: 'status', status: 503 }, times: 1 });
    const contents = [image, { image: 'team/web:1.0' }];
    await expect(exported({ contents })).rejects.toMatchObject({ reason: 'retryable' });
    const asked = source.requests.length;
    await exported({ contents });
    expect(source.requests.slice(asked).filter(({ path: at }) => at.includes('team/app/blobs'))).toEqual([]);
    const whole = await partsIn(out());
    // Parts of a longer bundle, one that has no name yet, a link to somewhere else, and no record.
    for (const name of await readdir(out())) if (!name.includes('.tar.')) await rm(out(name));
    await writeFile(out('first.tar.099'), 'old');
    await writeFile(path.join(root, 'elsewhere'), 'kept');
    await symlink(path.join(root, 'elsewhere'), out('first.tar.001.partial'));
    await symlink(path.join(root, 'elsewhere'), out('first.arc-bundle.json.partial'));
    await exported({ contents });
    expect(await partsIn(out())).toEqual(whole);
    expect(await readFile(path.join(root, 'elsewhere'), 'utf8')).toBe('kept');
    await carry();
    expect(await imported()).toMatchObject({ items: { copied: 2 } });
  });

  it('fails with what failed, imports the rest, and its receipt says so', async () => {
    await seedImage(source, 'team/app', '1.0', light);
    await seedImage(source, 'team/web', '1.0', light);
    await exported({ contents: [image, { image: 'team/web:1.0' }] });
    await carry();
    inside.faults.add({ path: /mirror\/team\/web\/blobs\/uploads/, fault: { kind: 'status', status: 403 } });
    await expect(imported()).rejects.toMatchObject({ items: { copied: 1, failed: 1 } });
    const { items } = JSON.parse(await readFile(into('first.receipt.json'), 'utf8'));
    expect(items).toMatchObject([{ outcome: 'imported' }, { outcome: 'failed' }]);
  });

  it.each([
    ['file:///../x', 'is not in the folder'],
    ['file:///%2e%2e/x', 'is not in the folder'],
    ['file:///a%2F..%2Fb', 'a folder for bundles is written file:///out'],
    ['file://host/x', 'a folder for bundles is written file:///out'],
    ['/etc', 'a folder for bundles is written file:///out'],
  ])('stays below its volume at %s', async (remoteURL, message) => {
    const artifact = { type: 'bundle-import', spec: { name: 'first' } };
    const at = { ...medium({ trust: maker.trust }), remoteURL };
    const job = { artifact, source: at, destination: registry('mirror', inside) };
    await expect(run(job, 'in')).rejects.toThrow(message);
    expect((await readdir(root)).filter((name) => name === 'x' || name === 'b')).toEqual([]);
  });

  it.each<[object, string]>([
    [{ name: '../x' }, 'spec.name must be the name of a bundle'],
    [{ contents: [] }, 'spec.contents must be a list of 1 to 1000'],
    [{ contents: [{}] }, 'spec.contents[0] must have one of image, chart and path'],
    [{ contents: [{ image: 'a:1', path: 'b' }] }, 'spec.contents[0] must have one of image, chart and path'],
    [{ contents: [{ image: 'a:1', tag: {} }] }, 'spec.contents[0].tag is not known'],
    [{ contents: [{ image: 'a:1' }, { image: 'a:1' }] }, 'spec.contents[1] is the same as spec.contents[0]'],
    [
      { contents: [{ image: 'a:1', withImages: true }] },
      'spec.contents[0].withImages does not belong to image',
    ],
    [{ contents: [{ path: 'a.tgz', override: 'a:1' }] }, 'of type "oci": name an artifact by image or chart'],
    [{ partSize: '1' }, 'spec.partSize "1" is not a size'],
    [{ since: '/' }, 'spec.since must be the name of a bundle'],
  ])('refuses %j', async (spec, message) => {
    await expect(exported(spec)).rejects.toMatchObject({
      reason: 'config',
      message: expect.stringContaining(message),
    });
  });
});

describe('the contents of a bundle', () => {
  const record = async () => JSON.parse(await readFile(out('first.arc-bundle.json'), 'utf8'));
  const tagsAt = (repository: string) => [
    ...(inside.contents.get(`mirror/${repository}`)?.tags.keys() ?? []),
  ];

  it('can be the tags that are selected, each an artifact of its own', async () => {
    for (const tag of ['1.0.0', '1.1.0', '2.0.0'])
      await seedImage(source, 'team/app', tag, { ...light, signature: false });
    const contents = [{ image: 'team/app', tags: { semver: '^1' }, override: 'kept/app' }];
    const made = await exported({ contents });
    expect(made).toMatchObject({ items: { total: 2, copied: 2 } });
    const asked = '{"image":"team/app","tags":{"semver":"^1"},"override":"kept/app"}';
    expect(
      (await record()).items.map((item: { asked: string; name: string }) => [item.asked, item.name]),
    ).toEqual([
      [asked, 'kept/app:1.1.0'],
      [asked, 'kept/app:1.0.0'],
    ]);
    // A tag that is made later belongs into another bundle.
    await seedImage(source, 'team/app', '1.2.0', light);
    expect(await exported({ contents })).toMatchObject({ digest: made?.digest, items: { unchanged: 2 } });
    const other = [{ image: 'team/app', tags: { semver: '^2' } }];
    await expect(exported({ contents: other })).rejects.toThrow('a bundle never changes');
    await carry();
    expect(await imported()).toMatchObject({ items: { total: 2, failed: 0 } });
    expect(tagsAt('kept/app').toSorted()).toEqual(['1.0.0', '1.1.0']);
  });

  it('has no entry that adds nothing', async () => {
    await seedImage(source, 'team/app', '1.0.0', light);
    const twice = ['^1', '>=1'].map((semver) => ({ image: 'team/app', tags: { semver } }));
    await expect(exported({ contents: twice })).rejects.toThrow(
      'spec.contents[1] selects nothing that is not in the bundle already: leave it out.',
    );
  });

  it('can be charts with every image that they name, what both need once', async () => {
    const values = `image: ${source.host}/team/app:1.0\n`;
    for (const name of ['web', 'shop']) {
      const files = { 'Chart.yaml': chartYaml(name, '1.2.3'), 'values.yaml': values };
      await seedChart(source, `charts/${name}`, await packChart(files, { folder: name }));
    }
    const { digest } = await seedImage(source, 'team/app', '1.0', light);
    const chart = { repo: 'charts', version: '^1', withImages: true };
    const made = await exported({
      contents: [
        { chart: 'web', ...chart },
        { chart: 'shop', ...chart },
      ],
    });
    expect((await record()).items.map(({ name }: { name: string }) => name)).toEqual([
      'team/app:1.0',
      'charts/web:1.2.3',
      'charts/shop:1.2.3',
    ]);
    expect(made).toMatchObject({ items: { total: 3, copied: 3 } });
    await carry();
    await imported();
    expect(inside.contents.get('mirror/team/app')?.tags.get('1.0')).toBe(digest);
    expect([...tagsAt('charts/web'), ...tagsAt('charts/shop')]).toEqual(['1.2.3', '1.2.3']);
  });

  it.each([
    ['whose digest nobody tells', {}],
    ['that has to have a digest', { sha256: digestOf(content) }],
  ])('can be files, as artifacts: one %s', async (_, more) => {
    const web = await startWebServer();
    try {
      web.files.set('/dist/app.tgz', { bytes: content, mediaType: 'application/gzip' });
      const from = { name: 'web', type: 'http', remoteURL: web.url };
      const file = { path: 'dist/app.tgz', override: 'tools/app:1.0', ...more };
      const made = await exported({ contents: [file] }, { from });
      expect(made).toMatchObject({ items: { total: 1, copied: 1 } });
      expect((await record()).items[0]).toMatchObject({
        asked: expect.stringContaining('"path":"dist/app.tgz"'),
        from: expect.stringContaining('file "dist/app.tgz" of server 127.0.0.1'),
        name: 'tools/app:1.0',
      });
      await carry();
      await imported();
      const found = inside.contents.get('mirror/tools/app');
      expect(found?.blobs.get(digestOf(content))).toEqual(content);
      const manifest = found?.manifests.get(found.tags.get('1.0') ?? '');
      expect(JSON.parse(String(manifest?.bytes)).layers).toMatchObject([
        {
          mediaType: 'application/gzip',
          annotations: { 'org.opencontainers.image.title': 'app.tgz' },
        },
      ]);
    } finally {
      await web.close();
    }
  });

  it.each([
    [{ path: 'dist/app.tgz' }, 'spec.contents[0].override must say how the file is called'],
    [{ image: 'team/app:1.0' }, 'Endpoint "web" of type "http": name a file by path'],
    [{ path: 'dist/app.tgz', override: 'tools/app:1.0', sha256: `${'0'.repeat(64)}` }, 'sha256:0000'],
  ])('of a web server cannot be %j', async (file, message) => {
    const web = await startWebServer();
    try {
      web.files.set('/dist/app.tgz', { bytes: content, mediaType: 'application/gzip' });
      const from = { name: 'web', type: 'http', remoteURL: web.url };
      await expect(exported({ contents: [file] }, { from })).rejects.toThrow(message);
      expect((await readdir(out())).filter((name) => name.endsWith('.json'))).toEqual([]);
    } finally {
      await web.close();
    }
  });

  it('are told apart by all that was ordered, however long it is', async () => {
    await seedImage(source, 'team/app', '1.0', light);
    const files = { 'Chart.yaml': chartYaml('web', '1.2.3') };
    await seedChart(source, 'charts/web', await packChart(files, { folder: 'web' }));
    const chart = { chart: 'web', repo: 'charts', images: [`${source.host}/team/app:1.0`] };
    const ordered = (end: string) => ({ contents: [{ ...chart, values: { text: 'x'.repeat(2000) + end } }] });
    await exported(ordered('a'));
    expect(await exported(ordered('a'))).toMatchObject({ items: { unchanged: 2 } });
    await expect(exported(ordered('b'))).rejects.toThrow('a bundle never changes');
  });
});

describe('a bundle since another one', () => {
  const both = { sign: maker.sign, trust: taker.trust };
  const second = { name: 'second', contents: [{ image: 'team/app:2.0' }], since: 'first' };

  beforeEach(async () => {
    const { digest } = await seedImage(source, 'team/app', '1.0', light);
    const found = source.contents.get('team/app');
    found?.tags.set('2.0', digest);
  });

  it('leaves out what a receipt says has arrived', async () => {
    await exported({});
    await carry();
    const refusals = [
      /No receipt says yet that the bundle "first".* carry first\.receipt\.json/,
      /is not signed by a key of trust\.pub/,
    ];
    await expect(exported(second, { keys: both })).rejects.toThrow(refusals[0]);
    await imported({}, { trust: maker.trust });
    await cp(into('first.receipt.json'), out('first.receipt.json'));
    await expect(exported(second, { keys: both })).rejects.toThrow(refusals[1]);
    await imported();
    for (const name of ['first.receipt.json', 'first.receipt.json.sig']) await cp(into(name), out(name));
    const made = await exported(second, { keys: both });
    expect(made).toMatchObject({ items: { copied: 1 } });
    const record = JSON.parse(await readFile(out('second.arc-bundle.json'), 'utf8'));
    expect(record.requires.blobs.length).toBeGreaterThan(0);
    await carry();
    expect(await imported({ name: 'second' })).toMatchObject({
      items: { total: 1, failed: 0 },
      bytes: { copied: 0 },
    });
    expect(inside.contents.get('mirror/team/app')?.tags.has('2.0')).toBe(true);
  });

  it('is not made by a receipt that says that something did not arrive, nor without the record', async () => {
    await exported({});
    await carry();
    inside.faults.add({ path: /blobs\/uploads/, fault: { kind: 'status', status: 403 } });
    await expect(imported()).rejects.toMatchObject({ items: { failed: 1 } });
    for (const name of ['first.receipt.json', 'first.receipt.json.sig']) await cp(into(name), out(name));
    await expect(exported(second, { keys: both })).rejects.toThrow('says that team/app:1.0 did not arrive');
    await rm(out('first.arc-bundle.json'));
    await expect(exported(second)).rejects.toThrow('There is no record of the bundle "first"');
  });

  it('is refused, and says what to import first, where the first one has not been', async () => {
    await exported({});
    await exported(second);
    await carry();
    await expect(imported({ name: 'second' })).rejects.toThrow(/Import that bundle first/);
    expect(writes()).toBe(0);
  });
});

async function partsIn(folder: string): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  return (await readdir(folder)).filter((name) => /\.tar\.\d+$/.test(name)).sort();
}

async function change(file: string): Promise<void> {
  const bytes = await readFile(file);
  bytes[1000] = (bytes[1000] ?? 0) ^ 1;
  await writeFile(file, bytes);
}
