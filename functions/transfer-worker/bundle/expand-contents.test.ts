import { readdir, readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seedImage } from '#shared/local';
import { digestOf } from '#shared/transfer';
import { chartYaml, packChart, seedChart } from '../../../shared/transfer/testing/charts.ts';
import { startWebServer } from '../../../shared/transfer/testing/web-server.ts';
import { light, type Sides, startSides } from './testing/sides.ts';

const content = Buffer.from('0123456789'.repeat(20_000));

let sides: Sides;

beforeEach(async () => {
  sides = await startSides();
});
afterEach(() => sides.close());

describe('the contents of a bundle', () => {
  const record = async () => JSON.parse(await readFile(sides.out('first.arc-bundle.json'), 'utf8'));
  const tagsAt = (repository: string) => [
    ...(sides.inside.contents.get(`mirror/${repository}`)?.tags.keys() ?? []),
  ];

  it('can be selected tags, each an artifact of its own', async () => {
    for (const tag of ['1.0.0', '1.1.0', '2.0.0'])
      await seedImage(sides.source, 'team/app', tag, { ...light, signature: false });
    const contents = [{ image: 'team/app', tags: { semver: '^1' }, override: 'kept/app' }];
    const made = await sides.exported({ contents });
    expect(made).toMatchObject({ items: { total: 2, copied: 2 } });
    const asked = '{"image":"team/app","tags":{"semver":"^1"},"override":"kept/app"}';
    expect(
      (await record()).items.map((item: { asked: string; name: string }) => [item.asked, item.name]),
    ).toEqual([
      [asked, 'kept/app:1.1.0'],
      [asked, 'kept/app:1.0.0'],
    ]);
    // A tag that is made later belongs into another bundle.
    await seedImage(sides.source, 'team/app', '1.2.0', light);
    expect(await sides.exported({ contents })).toMatchObject({
      digest: made?.digest,
      items: { unchanged: 2 },
    });
    const other = [{ image: 'team/app', tags: { semver: '^2' } }];
    await expect(sides.exported({ contents: other })).rejects.toThrow('a bundle is immutable');
    await sides.carry();
    expect(await sides.imported()).toMatchObject({ items: { total: 2, failed: 0 } });
    expect(tagsAt('kept/app').toSorted()).toEqual(['1.0.0', '1.1.0']);
  });

  it('has no entry that adds nothing', async () => {
    await seedImage(sides.source, 'team/app', '1.0.0', light);
    const twice = ['^1', '>=1'].map((semver) => ({ image: 'team/app', tags: { semver } }));
    await expect(sides.exported({ contents: twice })).rejects.toThrow(
      'spec.contents[1] selects nothing that is not in the bundle already: remove it.',
    );
  });

  it('have one artifact per name: other platforms of it are refused', async () => {
    const platforms = ['linux/amd64', 'linux/arm64'];
    await seedImage(sides.source, 'team/app', '1.0', { ...light, platforms, signature: false });
    const tags = { image: 'team/app', tags: { names: ['1.0'] } };
    const contents = [
      { ...tags, platforms: ['linux/amd64'] },
      { ...tags, tags: { match: '1*' } },
    ];
    await expect(sides.exported({ contents })).rejects.toMatchObject({
      reason: 'config',
      message: expect.stringMatching(/contents\[0\].*contents\[1\].*"team\/app:1\.0"/),
    });
  });

  it('can be charts with their images, where shared images occur once', async () => {
    const values = `image: ${sides.source.host}/team/app:1.0\n`;
    for (const name of ['web', 'shop']) {
      const files = { 'Chart.yaml': chartYaml(name, '1.2.3'), 'values.yaml': values };
      await seedChart(sides.source, `charts/${name}`, await packChart(files, { folder: name }));
    }
    const { digest } = await seedImage(sides.source, 'team/app', '1.0', light);
    const chart = { repo: 'charts', version: '^1', withImages: true };
    const made = await sides.exported({
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
    await sides.carry();
    await sides.imported();
    expect(sides.inside.contents.get('mirror/team/app')?.tags.get('1.0')).toBe(digest);
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
      const made = await sides.exported({ contents: [file] }, { from });
      expect(made).toMatchObject({ items: { total: 1, copied: 1 } });
      expect((await record()).items[0]).toMatchObject({
        asked: expect.stringContaining('"path":"dist/app.tgz"'),
        from: expect.stringContaining('file "dist/app.tgz" of server 127.0.0.1'),
        name: 'tools/app:1.0',
      });
      await sides.carry();
      await sides.imported();
      const found = sides.inside.contents.get('mirror/tools/app');
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
    [{ path: 'dist/app.tgz' }, 'spec.contents[0].override must be the name of the file'],
    [{ image: 'team/app:1.0' }, 'Endpoint "web" of type "http": name a file by path'],
    [{ path: 'dist/app.tgz', override: 'tools/app:1.0', sha256: `${'0'.repeat(64)}` }, 'sha256:0000'],
  ])('of a web server cannot be %j', async (file, message) => {
    const web = await startWebServer();
    try {
      web.files.set('/dist/app.tgz', { bytes: content, mediaType: 'application/gzip' });
      const from = { name: 'web', type: 'http', remoteURL: web.url };
      await expect(sides.exported({ contents: [file] }, { from })).rejects.toThrow(message);
      expect((await readdir(sides.out())).filter((name) => name.endsWith('.json'))).toEqual([]);
    } finally {
      await web.close();
    }
  });

  it('are distinguished by the whole entry, however long it is', async () => {
    await seedImage(sides.source, 'team/app', '1.0', light);
    const files = { 'Chart.yaml': chartYaml('web', '1.2.3') };
    await seedChart(sides.source, 'charts/web', await packChart(files, { folder: 'web' }));
    const chart = { chart: 'web', repo: 'charts', images: [`${sides.source.host}/team/app:1.0`] };
    const ordered = (end: string) => ({ contents: [{ ...chart, values: { text: 'x'.repeat(2000) + end } }] });
    await sides.exported(ordered('a'));
    expect(await sides.exported(ordered('a'))).toMatchObject({ items: { unchanged: 2 } });
    await expect(sides.exported(ordered('b'))).rejects.toThrow('a bundle is immutable');
  });
});
