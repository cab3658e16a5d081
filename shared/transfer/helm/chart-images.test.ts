import { describe, expect, it } from 'vitest';
import { chartYaml, packChart } from '../testing/charts.ts';
import { transferFailure } from '../testing/transfer-failure.ts';
import { readChartArchive } from './chart-archive.ts';
import { chartImages } from './chart-images.ts';

async function search(files: Record<string, string | Buffer>, overrides: Record<string, unknown> = {}) {
  const tgz = await packChart({ 'Chart.yaml': chartYaml('demo', '1.0.0', 'appVersion: "7.7"\n'), ...files });
  const { images, warnings } = await chartImages(
    (await readChartArchive(tgz, 'demo')).files,
    overrides,
    'chart demo',
  );
  const names = images.map(
    ({ host, repository, tag, digest }) => `${host}/${repository}${digest ? `@${digest}` : `:${tag}`}`,
  );
  return { names, warnings };
}
const inValues = async (values: string, overrides: Record<string, unknown> = {}) =>
  search({ 'values.yaml': values }, overrides);
const sha = `sha256:${'0'.repeat(64)}`;

describe('the images of a chart', () => {
  it.each([
    ['image: {repository: team/app, tag: 1.0}', 'docker.io/team/app:1'],
    ['image: {registry: quay.io, repository: team/app, tag: "1.0"}', 'quay.io/team/app:1.0'],
    ['image: {repository: quay.io/team/app}', 'quay.io/team/app:7.7'],
    ['image: {repository: nginx, tag: ""}', 'docker.io/nginx:7.7'],
    [
      `image: {registry: registry.k8s.io, image: ingress/controller, tag: v1, digest: "${sha}"}`,
      `registry.k8s.io/ingress/controller@${sha}`,
    ],
    ['image: quay.io/team/app:1.0', 'quay.io/team/app:1.0'],
    ['image: nginx:1.27', 'docker.io/nginx:1.27'],
    ['initImage: localhost:5000/busybox', 'localhost:5000/busybox:7.7'],
    ['image: nginx\ntag: 1.27', 'docker.io/nginx:1.27'],
    ['controller: {webhook: {image: {repository: r.io/hook, tag: 2}}}', 'r.io/hook:2'],
    ['list: [{image: "r.io/a:1"}]', 'r.io/a:1'],
    ['proxy: {repository: r.io/proxy, tag: 3}', 'r.io/proxy:3'],
    [
      'global: {imageRegistry: mirror.io}\nimage: {registry: quay.io, repository: a, tag: 1}',
      'mirror.io/a:1',
    ],
  ])('are found in %s', async (values, image) => {
    expect(await inValues(values)).toEqual({ names: [image], warnings: [] });
  });

  it.each([
    'source: {repository: "https://git.example.com/a.git", tag: main}',
    'image: alpine',
    'imagePullPolicy: Always',
    'repository: {url: x}',
    'image: {pullPolicy: Always}',
    'image: ""',
    `image: "a${':'.repeat(200_000)}/"`,
  ])('are not found in %s', async (values) => {
    expect(await inValues(values)).toEqual({ names: [], warnings: [] });
  });

  it('are those of the values with the overrides', async () => {
    const values =
      'image: {repository: r.io/app, tag: 1}\nmetrics: {enabled: false, image: {repository: r.io/metrics, tag: 1}}\n';
    expect(await inValues(values)).toEqual({
      names: ['r.io/app:1'],
      warnings: ['Images of components that the values of chart demo disable are not moved: r.io/metrics:1'],
    });
    const { names } = await inValues(values, { image: { tag: '2' }, metrics: { enabled: true } });
    expect(names).toEqual(['r.io/app:2', 'r.io/metrics:1']);
  });

  it('include those of the annotation, without duplicates', async () => {
    const list =
      'annotations:\n  artifacthub.io/images: |\n    - name: a\n      image: r.io/app:1\n    - image: r.io/extra:2\n';
    const found = await search({
      'Chart.yaml': chartYaml('demo', '1.0.0', list),
      'values.yaml': 'image: {repository: r.io/app, tag: 1}\n',
    });
    expect(found).toEqual({ names: ['r.io/app:1', 'r.io/extra:2'], warnings: [] });
  });

  it('include those of enabled subcharts, in folders and archives', async () => {
    const image = (name: string) => `image: {repository: r.io/${name}, tag: 1}\n`;
    const dependencies = `dependencies:
- {name: folder, repository: "", condition: folder.enabled}
- {name: packed, repository: "", alias: one}
- {name: packed, repository: "", alias: two, tags: [back]}
- {name: unused, repository: "", condition: unused.enabled}
- {name: absent, repository: ""}
`;
    const { names, warnings } = await search({
      'Chart.yaml': chartYaml('demo', '1.0.0', dependencies),
      'values.yaml': 'unused: {enabled: false}\none: {image: {tag: 9}}\nglobal: {imageRegistry: ""}\n',
      'charts/folder/Chart.yaml': chartYaml('folder', '1.0.0'),
      'charts/folder/values.yaml': image('folder'),
      'charts/packed-1.0.0.tgz': await packChart(
        { 'Chart.yaml': chartYaml('packed', '1.0.0'), 'values.yaml': image('packed') },
        { folder: 'packed' },
      ),
      'charts/unused/Chart.yaml': chartYaml('unused', '1.0.0'),
      'charts/unused/values.yaml': image('unused'),
      'charts/_ignored/Chart.yaml': chartYaml('ignored', '1.0.0'),
      'charts/_ignored/values.yaml': image('ignored'),
      'charts/unasked/Chart.yaml': chartYaml('unasked', '1.0.0'),
      'charts/unasked/values.yaml': image('unasked'),
    });
    expect(names.toSorted()).toEqual(['r.io/folder:1', 'r.io/packed:1', 'r.io/packed:9', 'r.io/unasked:1']);
    expect(warnings).toEqual([
      'Subchart absent of chart demo is not in the archive: its images are not moved',
    ]);
  });

  it('without a valid name are skipped with a warning', async () => {
    const { names, warnings } = await inValues('image: {repository: Team/App, tag: 1}');
    expect(names).toEqual([]);
    expect(warnings[0]).toMatch(
      /"Team\/App:1" \(image in the values of chart demo\) is not the name of an image/,
    );
  });

  it('are bounded, and so is nesting', async () => {
    const many = Array.from({ length: 501 }, (_, at) => `a${at}: {image: "r.io/a:${at}"}`).join('\n');
    expect((await transferFailure(inValues(many))).message).toMatch(
      /more than 500 images: list those to move in spec.images/,
    );
    let nested = await packChart({ 'Chart.yaml': chartYaml('last', '1.0.0') });
    for (let at = 0; at < 10; at += 1)
      nested = await packChart({ 'Chart.yaml': chartYaml(`c${at}`, '1.0.0'), 'charts/next.tgz': nested });
    expect((await transferFailure(search({ 'charts/next.tgz': nested }))).message).toMatch(
      /too many subcharts/,
    );
  });
});
