import { describe, expect, it } from 'vitest';
import { chartYaml, packChart } from '../testing/charts.ts';
import { transferFailure } from '../testing/transfer-failure.ts';
import { readChartArchive } from './chart-archive.ts';
import { metadataOf } from './chart-images.ts';
import { chartImage } from './chart-manifest.ts';

async function imageOf(yaml: string, more: Record<string, string> = {}, provenance?: Buffer) {
  const tgz = await packChart({ 'Chart.yaml': yaml, ...more });
  const { files, modifiedMs } = await readChartArchive(tgz, 'chart demo');
  const metadata = await metadataOf(files, 'chart demo');
  const { manifest, blobs, tag } = chartImage({ metadata, tgz, provenance, createdMs: modifiedMs });
  const config = blobs[0]?.bytes.toString() ?? '';
  return { json: manifest.bytes.toString(), config, tag, manifest, blobs, tgz };
}

const everything = `apiVersion: v2
name: demo
version: 1.2.3+build.5
appVersion: 1.10
description: "a <b> & 'c'\\tand\\u0007 more"
type: application
home: https://example.com/?a=1&b=2
deprecated: true
kubeVersion: ">=1.20.0-0"
icon: https://example.com/icon.png
unknownField: dropped
keywords: [x, 5, yes]
sources: [https://git.example.com/demo, https://second.example.com]
maintainers:
- { name: Ann, email: ann@example.com, url: https://ann.example.com }
- { name: Bob }
- { email: c@example.com }
annotations:
  zeta: "1"
  alpha: two
  org.opencontainers.image.title: not this one
  org.opencontainers.image.vendor: Example
dependencies:
- { name: sub, version: ~1.0.0, repository: "https://r.example.com", condition: sub.enabled, tags: [a], import-values: [{ parent: p, child: c }, data] }
- { name: other, repository: "", alias: another }
`;

describe('a chart as an image', () => {
  it('has the config that Helm writes, byte for byte', async () => {
    const { config } = await imageOf(everything);
    expect(config).toBe(
      '{"name":"demo","home":"https://example.com/?a=1\\u0026b=2","sources":["https://git.example.com/demo","https://second.example.com"],' +
        '"version":"1.2.3+build.5","description":"a \\u003cb\\u003e \\u0026 \'c\' and more","keywords":["x","5","true"],' +
        '"maintainers":[{"name":"Ann","email":"ann@example.com","url":"https://ann.example.com"},{"name":"Bob"},{"email":"c@example.com"}],' +
        '"icon":"https://example.com/icon.png","apiVersion":"v2","appVersion":"1.1","deprecated":true,' +
        '"annotations":{"alpha":"two","org.opencontainers.image.title":"not this one","org.opencontainers.image.vendor":"Example","zeta":"1"},' +
        '"kubeVersion":"\\u003e=1.20.0-0","dependencies":[{"name":"sub","version":"~1.0.0","repository":"https://r.example.com","condition":"sub.enabled",' +
        '"tags":["a"],"import-values":[{"child":"c","parent":"p"},"data"]},{"name":"other","repository":"","alias":"another"}],"type":"application"}',
    );
  });

  it('has the manifest that Helm writes, with the time of the latest file', async () => {
    const { json, tag, blobs, tgz } = await imageOf(everything);
    const [config, layer] = blobs.map(({ descriptor }) => descriptor);
    expect(json).toBe(
      `{"schemaVersion":2,"config":{"mediaType":"application/vnd.cncf.helm.config.v1+json","digest":"${config?.digest}","size":${config?.size}},` +
        `"layers":[{"mediaType":"application/vnd.cncf.helm.chart.content.v1.tar+gzip","digest":"${layer?.digest}","size":${tgz.length}}],` +
        '"annotations":{"alpha":"two","org.opencontainers.image.authors":"Ann (ann@example.com), Bob,  (c@example.com)",' +
        '"org.opencontainers.image.created":"2024-05-06T07:08:09Z","org.opencontainers.image.description":"a \\u003cb\\u003e \\u0026 \'c\' and more",' +
        '"org.opencontainers.image.source":"https://git.example.com/demo","org.opencontainers.image.title":"demo",' +
        '"org.opencontainers.image.url":"https://example.com/?a=1\\u0026b=2","org.opencontainers.image.vendor":"Example",' +
        '"org.opencontainers.image.version":"1.2.3+build.5","zeta":"1"}}',
    );
    expect(tag).toBe('1.2.3_build.5');
  });

  it('is the same image each time, and has its provenance as a layer', async () => {
    const one = await imageOf(everything, {}, Buffer.from('signed'));
    const two = await imageOf(everything, {}, Buffer.from('signed'));
    expect(one.manifest.digest).toBe(two.manifest.digest);
    const types = one.manifest.blobs.map(({ mediaType }) => mediaType);
    expect(types).toContain('application/vnd.cncf.helm.chart.provenance.v1.prov');
    const layers = one.manifest.blobs.slice(1).map(({ digest }) => digest);
    expect(layers).toEqual(layers.toSorted());
  });

  it('of version 1 has the dependencies of requirements.yaml', async () => {
    const requirements = 'dependencies:\n- { name: sub, version: 1.0.0, repository: "@stable" }\n';
    const { config } = await imageOf('name: demo\nversion: 0.1.0\n', { 'requirements.yaml': requirements });
    expect(config).toBe(
      '{"name":"demo","version":"0.1.0","apiVersion":"v1","dependencies":[{"name":"sub","version":"1.0.0","repository":"@stable"}]}',
    );
  });

  it.each([
    ['version: 1.0.0', /it has no name/],
    ['name: demo', /it has no version/],
    ['name: a/b\nversion: 1.0.0', /"a\/b" is not the name of a chart/],
    ['name: demo\nversion: newest', /"newest" is not a semantic version/],
    ['name: demo\nversion: 1.0.0\ntype: plugin', /type is neither/],
    ['name: demo\nversion: 1.0.0\ndescription: [a]', /"description" is not a string/],
    [
      'name: demo\nversion: 1.0.0\nmaintainers: [null]',
      /"maintainers" contains a value that is not a mapping/,
    ],
    ['name: demo\nversion: 1.0.0\ndeprecated: "yes"', /neither true nor false/],
    ['name: demo\nversion: 1.0.0\nannotations: x', /"annotations" contains a value that is not a mapping/],
    [
      'name: demo\nversion: 1.0.0\ndependencies: [{name: a}, {name: b, alias: a}]',
      /more than one dependency/,
    ],
    ['name: demo\nversion: 1.0.0\ndependencies: [{name: a, alias: "b c"}]', /alias "b c"/],
    ['- a', /it is not a mapping/],
    ['a: [', /Chart.yaml of chart demo cannot be read/],
  ])('is refused for %j', async (yaml, message) => {
    expect((await transferFailure(imageOf(yaml))).message).toMatch(message);
  });

  it('is read like Go if keys are repeated or have another case', async () => {
    const { config } = await imageOf(
      'Name: other\nname: demo\nVERSION: 1.0.0\ntype: library\ntype: application\n',
    );
    expect(JSON.parse(config)).toEqual({
      name: 'demo',
      version: '1.0.0',
      apiVersion: 'v1',
      type: 'application',
    });
  });

  it('reads numbers as Go prints them', async () => {
    const app = async (value: string) =>
      JSON.parse((await imageOf(chartYaml('demo', '1.0.0', `appVersion: ${value}\n`))).config).appVersion;
    expect(await app('1.0')).toBe('1');
    expect(await app('2024')).toBe('2024');
    expect(await app('20240101.5')).toBe('2.0240102e+07');
    expect(await app('0.00001')).toBe('1e-05');
    expect(await app('2024-01-02')).toBe('2024-01-02');
    expect(await app('"1.0"')).toBe('1.0');
  });
});
