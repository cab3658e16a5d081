import { verify } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seedImage } from '#shared/local';
import { chartYaml, packChart, seedChart } from '../../../shared/transfer/testing/charts.ts';
import {
  image,
  light,
  maker,
  medium,
  other,
  registry,
  type Sides,
  startSides,
  taker,
} from './testing/sides.ts';

let sides: Sides;

beforeEach(async () => {
  sides = await startSides();
});
afterEach(() => sides.close());

describe('a bundle of an Order', () => {
  it('carries images and a chart with their referrers to the other side, and a receipt back', async () => {
    const app = await seedImage(sides.source, 'team/app', '1.0', light);
    await seedChart(sides.source, 'charts/web', await packChart({ 'Chart.yaml': chartYaml('web', '1.2.3') }));
    const chart = sides.source.contents.get('charts/web')?.tags.get('1.2.3');
    const made = await sides.exported({
      contents: [
        { ...image, override: 'kept/app' },
        { chart: 'web', repo: 'charts', version: '^1' },
      ],
    });
    expect(made).toMatchObject({ items: { total: 2, copied: 2 }, bytes: { existed: 0 } });
    expect(
      (await readdir(sides.out())).filter(
        (name) => !/^first\.(tar\.\d{3}|arc-bundle\.json(\.sig)?)$/.test(name),
      ),
    ).toEqual([]);
    await sides.carry();
    const arrived = await sides.imported({ digest: made?.digest });
    expect(arrived).toMatchObject({
      digest: made?.digest,
      referrers: 1,
      items: { total: 2, copied: 2, failed: 0 },
      warnings: [],
    });
    expect(sides.inside.contents.get('mirror/kept/app')?.tags.get('1.0')).toBe(app.digest);
    expect(sides.inside.contents.get('mirror/charts/web')?.tags.get('1.2.3')).toBe(chart);
    expect(JSON.parse(await readFile(sides.into('first.receipt.json'), 'utf8'))).toMatchObject({
      bundle: made?.digest,
      signature: 'verified',
      items: [
        { name: 'kept/app:1.0', outcome: 'imported' },
        { name: 'charts/web:1.2.3', outcome: 'imported' },
      ],
    });
  });

  it('is made once, imported once, and immutable', async () => {
    await seedImage(sides.source, 'team/app', '1.0', light);
    const made = await sides.exported({});
    await sides.carry();
    await sides.imported();
    const sent = sides.writes();
    sides.source.requests.length = 0;
    expect(await sides.exported({})).toMatchObject({
      digest: made?.digest,
      items: { unchanged: 1 },
      bytes: { copied: 0 },
    });
    expect(sides.source.count('GET', /\/blobs\//)).toBe(0);
    expect(await sides.imported()).toMatchObject({ items: { unchanged: 1 }, bytes: { copied: 0 } });
    expect(sides.writes()).toBe(sent);
    await expect(sides.exported({ contents: [{ image: 'team/app:2.0' }] })).rejects.toMatchObject({
      reason: 'config',
      message: expect.stringContaining('a bundle is immutable: choose another spec.name'),
    });
    await expect(sides.exported({}, { keys: { sign: other.sign } })).rejects.toThrow(
      'is not signed by sign.key',
    );
  });

  it('records the policy that it passed, and is not written if the policy denies', async () => {
    await seedImage(sides.source, 'team/app', '1.0', light);
    const policy = (maxBytes: number) => JSON.stringify({ maxBytes });
    await expect(sides.exported({}, { policy: policy(10) })).rejects.toMatchObject({
      reason: 'denied-by-policy',
    });
    expect(await readdir(sides.out())).toEqual([]);
    await sides.exported({}, { policy: policy(10 ** 9) });
    expect(JSON.parse(await readFile(sides.out('first.arc-bundle.json'), 'utf8')).policy).toBe(
      policy(10 ** 9),
    );
  });

  it.each<[string, 'permanent' | 'retryable', () => Promise<unknown>, RegExp]>([
    [
      'a byte that is another one',
      'permanent',
      () => change(sides.into('first.tar.002')),
      /damaged or was changed|not a tar|record says/,
    ],
    [
      'a part that is cut',
      'retryable',
      () => truncate(sides.into('first.tar.002'), 100),
      /part .*002 has 100 bytes.*copy it again/,
    ],
    ['no second part', 'retryable', () => rm(sides.into('first.tar.002')), /part .*002 is missing/],
    [
      'no last part',
      'retryable',
      async () => rm(sides.into((await partsIn(sides.into())).at(-1) ?? '')),
      /is missing|shorter than it was written/,
    ],
  ])('with %s is refused before anything is sent: %s', async (_, reason, damage, message) => {
    await seedImage(sides.source, 'team/app', '1.0', light);
    await sides.exported({});
    await sides.carry();
    await damage();
    await expect(sides.imported()).rejects.toMatchObject({
      reason,
      again: false,
      message: expect.stringMatching(message),
    });
    expect(sides.inside.requests).toEqual([]);
    expect(await readdir(sides.into())).not.toContain('first.receipt.json');
    await sides.carry();
    expect(await sides.imported()).toMatchObject({ items: { copied: 1 } });
  });

  it('whose first part is still being copied is waited for', async () => {
    await seedImage(sides.source, 'team/app', '1.0', light);
    await sides.exported({});
    await mkdir(sides.into(), { recursive: true });
    for (const length of [60_000, 1000, 512, 100, 0]) {
      await cp(sides.out('first.tar.001'), sides.into('first.tar.001'));
      await truncate(sides.into('first.tar.001'), length);
      await expect(sides.imported()).rejects.toMatchObject({ reason: 'retryable', again: false });
    }
    await sides.carry();
    expect(await sides.imported()).toMatchObject({ items: { copied: 1 } });
  });

  it('reports a tag as written if only the tag was missing', async () => {
    await seedImage(sides.source, 'team/app', '1.0', light);
    await sides.exported({});
    await sides.carry();
    await sides.imported();
    sides.inside.contents.get('mirror/team/app')?.tags.delete('1.0');
    expect(await sides.imported()).toMatchObject({
      items: { copied: 1, unchanged: 0 },
      bytes: { copied: 0 },
    });
  });

  it('is refused if the policy has changed, or cannot be read', async () => {
    await seedImage(sides.source, 'team/app', '1.0', light);
    const policy = JSON.stringify({ maxBytes: 10 ** 9 });
    await sides.exported({}, { policy });
    for (const more of [{}, { policy: JSON.stringify({ maxBytes: 10 }) }])
      await expect(sides.exported({}, more)).rejects.toMatchObject({
        reason: 'config',
        message: expect.stringContaining('already exists under another policy'),
      });
    await expect(sides.exported({}, { policy: '{"maxByts":1}' })).rejects.toThrow(
      'The policy cannot be read',
    );
    const moved = JSON.stringify([{ from: 'Endpoint "volume"', text: policy }]);
    for (const same of [`${policy} `, moved])
      expect(await sides.exported({}, { policy: same })).toMatchObject({ items: { unchanged: 1 } });
  });

  it('with another key, an old one under a new name, or another digest is refused', async () => {
    await seedImage(sides.source, 'team/app', '1.0', light);
    await sides.exported({});
    await sides.carry();
    await expect(sides.imported({}, { trust: other.trust })).rejects.toThrow('was not made with this key');
    await expect(sides.imported({}, { sign: taker.sign })).rejects.toThrow('has no public key trust.pub');
    for (const part of await partsIn(sides.into()))
      await rename(sides.into(part), sides.into(part.replace('first', 'second')));
    await expect(sides.imported({ name: 'second' })).rejects.toThrow(
      /it is the bundle "first" of .*: bring "second" again/,
    );
    await expect(sides.imported()).rejects.toMatchObject({
      reason: 'retryable',
      message: expect.stringContaining('bring first.tar.001'),
    });
    await sides.carry();
    await expect(sides.imported({ digest: `sha256:${'0'.repeat(64)}` })).rejects.toThrow('was requested');
    expect(sides.inside.requests).toEqual([]);
    expect(await sides.imported({}, { trust: `${other.trust}${maker.trust}` })).toMatchObject({
      items: { copied: 1 },
    });
  });

  it('resumes after an aborted export, and is complete after one that was killed between its files', async () => {
    await seedImage(sides.source, 'team/app', '1.0', light);
    await seedImage(sides.source, 'team/web', '1.0', light);
    sides.source.faults.add({
      path: /team\/web\/manifests/,
      fault: { kind: 'status', status: 503 },
      times: 1,
    });
    const contents = [image, { image: 'team/web:1.0' }];
    await expect(sides.exported({ contents })).rejects.toMatchObject({ reason: 'retryable' });
    const asked = sides.source.requests.length;
    await sides.exported({ contents });
    expect(
      sides.source.requests.slice(asked).filter(({ path: at }) => at.includes('team/app/blobs')),
    ).toEqual([]);
    const whole = await partsIn(sides.out());
    // Parts of a longer bundle, one that has no name yet, a link to somewhere else, and no record.
    for (const name of await readdir(sides.out())) if (!name.includes('.tar.')) await rm(sides.out(name));
    await writeFile(sides.out('first.tar.099'), 'old');
    await writeFile(path.join(sides.root, 'elsewhere'), 'kept');
    await symlink(path.join(sides.root, 'elsewhere'), sides.out('first.tar.001.partial'));
    await symlink(path.join(sides.root, 'elsewhere'), sides.out('first.arc-bundle.json.partial'));
    await sides.exported({ contents });
    expect(await partsIn(sides.out())).toEqual(whole);
    expect(await readFile(path.join(sides.root, 'elsewhere'), 'utf8')).toBe('kept');
    await sides.carry();
    expect(await sides.imported()).toMatchObject({ items: { copied: 2 } });
  });

  it('fails with the failed artifact, imports the rest, and its receipt says so', async () => {
    await seedImage(sides.source, 'team/app', '1.0', light);
    await seedImage(sides.source, 'team/web', '1.0', light);
    await sides.exported({ contents: [image, { image: 'team/web:1.0' }] });
    await sides.carry();
    sides.inside.faults.add({
      path: /mirror\/team\/web\/blobs\/uploads/,
      fault: { kind: 'status', status: 403 },
    });
    await expect(sides.imported()).rejects.toMatchObject({ items: { copied: 1, failed: 1 } });
    const { items } = JSON.parse(await readFile(sides.into('first.receipt.json'), 'utf8'));
    expect(items).toMatchObject([{ outcome: 'imported' }, { outcome: 'failed' }]);
  });

  it.each([
    ['file:///../x', 'is not in the folder'],
    ['file:///%2e%2e/x', 'is not in the folder'],
    ['file:///a%2F..%2Fb', 'use file:///out for the folder'],
    ['file://host/x', 'use file:///out for the folder'],
    ['/etc', 'use file:///out for the folder'],
  ])('stays below its volume at %s', async (remoteURL, message) => {
    const artifact = { type: 'bundle-import', spec: { name: 'first' } };
    const at = { ...medium({ trust: maker.trust }), remoteURL };
    const job = { artifact, source: at, destination: registry('mirror', sides.inside) };
    await expect(sides.run(job, 'in')).rejects.toThrow(message);
    expect((await readdir(sides.root)).filter((name) => name === 'x' || name === 'b')).toEqual([]);
  });

  it.each<[object, string]>([
    [{ name: '../x' }, 'spec.name must be the name of a bundle'],
    [{ contents: [] }, 'spec.contents must be a list of 1 to 1000'],
    [{ contents: [{}] }, 'spec.contents[0] must have one of image, chart and path'],
    [{ contents: [{ image: 'a:1', path: 'b' }] }, 'spec.contents[0] must have one of image, chart and path'],
    [{ contents: [{ image: 'a:1', tag: {} }] }, 'spec.contents[0].tag is not a field'],
    [{ contents: [{ image: 'a:1' }, { image: 'a:1' }] }, 'spec.contents[1] is the same as spec.contents[0]'],
    [
      { contents: [{ image: 'a:1', withImages: true }] },
      'spec.contents[0].withImages cannot be combined with image',
    ],
    [{ contents: [{ path: 'a.tgz', override: 'a:1' }] }, 'of type "oci": name an artifact by image or chart'],
    [{ partSize: '1' }, 'spec.partSize "1" is not a size'],
    [{ since: '/' }, 'spec.since must be the name of a bundle'],
  ])('refuses %j', async (spec, message) => {
    await expect(sides.exported(spec)).rejects.toMatchObject({
      reason: 'config',
      message: expect.stringContaining(message),
    });
  });
});

describe('an incremental bundle', () => {
  const both = { sign: maker.sign, trust: taker.trust };
  const second = { name: 'second', contents: [{ image: 'team/app:2.0' }], since: 'first' };

  beforeEach(async () => {
    const { digest } = await seedImage(sides.source, 'team/app', '1.0', light);
    const found = sides.source.contents.get('team/app');
    found?.tags.set('2.0', digest);
  });

  it('has a receipt with a valid signature after concurrent imports, each of which wrote one', async () => {
    await seedImage(sides.source, 'team/app', '1.0', light);
    await sides.exported({});
    await sides.carry();
    const places = Array.from({ length: 6 }, (_, number) => `${sides.inside.url}/mirror/${number}`);
    for (let round = 0; round < 3; round += 1) {
      const imports = places.map((remoteURL) =>
        sides.run(
          {
            artifact: { type: 'bundle-import', spec: { name: 'first' } },
            source: medium({ trust: maker.trust, sign: taker.sign }),
            destination: { ...registry('mirror', sides.inside), remoteURL },
          },
          'in',
        ),
      );
      for (const result of await Promise.all(imports)) expect(result?.warnings).toEqual([]);
      const receipt = sides.into('first.receipt.json');
      const signature = await readFile(`${receipt}.sig`, 'utf8');
      const bytes = await readFile(receipt);
      expect(verify(null, bytes, taker.trust, Buffer.from(signature, 'base64'))).toBe(true);
      const { destination, elsewhere } = JSON.parse(String(bytes));
      const told = [destination, ...elsewhere.map((each: { destination: string }) => each.destination)];
      expect(told.toSorted()).toEqual(places);
    }
    expect((await readdir(sides.into())).filter((name) => name.includes('partial'))).toEqual([]);
  });

  it('cannot build on one that was not imported to every destination in the receipt', async () => {
    await sides.exported({});
    await sides.carry();
    sides.inside.faults.add({ path: /blobs\/uploads/, fault: { kind: 'status', status: 403 } });
    await expect(sides.imported()).rejects.toMatchObject({ items: { failed: 1 } });
    sides.inside.faults.clear();
    await sides.run(
      {
        artifact: { type: 'bundle-import', spec: { name: 'first' } },
        source: medium({ trust: maker.trust, sign: taker.sign }),
        destination: { ...registry('other', sides.inside), remoteURL: `${sides.inside.url}/other` },
      },
      'in',
    );
    const back = async () => {
      for (const name of ['first.receipt.json', 'first.receipt.json.sig'])
        await cp(sides.into(name), sides.out(name));
    };
    await back();
    await expect(sides.exported(second, { keys: both })).rejects.toThrow(
      /says that team\/app:1\.0 was not imported to .*\/mirror,/,
    );
    await sides.imported();
    await back();
    expect(await sides.exported(second, { keys: both })).toMatchObject({ items: { copied: 1 } });
  });

  it('omits what a receipt confirms as imported', async () => {
    await sides.exported({});
    await sides.carry();
    const refusals = [
      /No receipt confirms yet that the bundle "first".* bring first\.receipt\.json/,
      /is not signed by a key of trust\.pub/,
    ];
    await expect(sides.exported(second, { keys: both })).rejects.toThrow(refusals[0]);
    await sides.imported({}, { trust: maker.trust });
    await cp(sides.into('first.receipt.json'), sides.out('first.receipt.json'));
    await expect(sides.exported(second, { keys: both })).rejects.toThrow(refusals[1]);
    await sides.imported();
    for (const name of ['first.receipt.json', 'first.receipt.json.sig'])
      await cp(sides.into(name), sides.out(name));
    const made = await sides.exported(second, { keys: both });
    expect(made).toMatchObject({ items: { copied: 1 } });
    const record = JSON.parse(await readFile(sides.out('second.arc-bundle.json'), 'utf8'));
    expect(record.requires.blobs.length).toBeGreaterThan(0);
    await sides.carry();
    expect(await sides.imported({ name: 'second' })).toMatchObject({
      items: { total: 1, failed: 0 },
      bytes: { copied: 0 },
    });
    expect(sides.inside.contents.get('mirror/team/app')?.tags.has('2.0')).toBe(true);
  });

  it('is not made with a receipt of an incomplete import, nor without the record', async () => {
    await sides.exported({});
    await sides.carry();
    sides.inside.faults.add({ path: /blobs\/uploads/, fault: { kind: 'status', status: 403 } });
    await expect(sides.imported()).rejects.toMatchObject({ items: { failed: 1 } });
    for (const name of ['first.receipt.json', 'first.receipt.json.sig'])
      await cp(sides.into(name), sides.out(name));
    await expect(sides.exported(second, { keys: both })).rejects.toThrow(
      'says that team/app:1.0 was not imported',
    );
    await rm(sides.out('first.arc-bundle.json'));
    await expect(sides.exported(second)).rejects.toThrow('There is no record of the bundle "first"');
  });

  it('is refused if the earlier bundle was not imported, which the message names', async () => {
    await sides.exported({});
    await sides.exported(second);
    await sides.carry();
    await expect(sides.imported({ name: 'second' })).rejects.toThrow(/Import that bundle first/);
    expect(sides.writes()).toBe(0);
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
