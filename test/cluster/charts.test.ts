import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyArtifact, digestOf, openChart, registrySink } from '#shared/transfer';
import { chartYaml, imageOfChart, packChart } from '../../shared/transfer/testing/charts.ts';
import { startWebServer } from '../../shared/transfer/testing/web-server.ts';
import {
  type RegistryProcess,
  registryTools,
  startRegistryProcess,
} from '../fixtures/image/registry-tools.ts';

const tools = registryTools();
if (!tools)
  console.log('skipped: the comparison with Helm needs REGISTRY_TOOLS (.ci/registry-tools/build.sh)');

/** Lines of a Chart.yaml that Helm reads in ways of its own: numbers as texts, white space, keys in any case, the order of maps. */
const peculiar = [
  'appVersion: 1.10',
  'appVersion: 20240101.5',
  'appVersion: 0.00001',
  'appVersion: 012',
  'appVersion: yes',
  'description: "a <b> & c\\td\\u0085e\\u2028f\\u200bg\\u0007"',
  'Description: upper',
  'keywords: [x, 5, ~, on]',
  'annotations: { zeta: "1", alpha: 2, "org.opencontainers.image.created": x, "org.opencontainers.image.title": y }',
  'maintainers: [{ name: A, email: a@b }, { email: c@d }, {}]',
  'sources: ["https://a?b=1&c=2"]',
  'dependencies: [{ name: a, alias: b-c, repository: x, tags: [1], import-values: [{ z: { b: 1, a: 2.0 } }, y] }]',
  'deprecated: true\ntype: library\nkubeVersion: ">= 1.20"\nicon: i\nhome: h\ncondition: c\ntags: t\nunknown: {}',
  'type: application\ntype: library',
];

describe.skipIf(!tools)('charts as Helm itself makes and reads them', () => {
  let registry: RegistryProcess;
  let folder = '';
  beforeAll(async () => {
    registry = await startRegistryProcess(tools ?? '');
    folder = await mkdtemp(path.join(os.tmpdir(), 'arc-charts-'));
  });
  afterAll(async () => {
    await registry?.stop();
    if (folder !== '') await rm(folder, { recursive: true });
  });

  async function helm(...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(path.join(tools ?? '', 'helm-judge'), args, {
      timeout: 60_000,
    });
    return stdout.trimEnd();
  }

  it.each(peculiar.entries().toArray())(
    'have the digest that helm push gives them: %i, %s',
    async (index, line) => {
      const version = `1.0.${index}+build`;
      const tgz = await packChart({
        'Chart.yaml': chartYaml('demo', version, `${line}\n`),
        'values.yaml': 'a: 1\n',
      });
      const provenance = Buffer.from('-----BEGIN PGP SIGNED MESSAGE-----\n');
      const [archive, signature] = [path.join(folder, 'demo.tgz'), path.join(folder, 'demo.tgz.prov')];
      await writeFile(archive, tgz);
      await writeFile(signature, provenance);
      const pushed = await helm(
        'push',
        archive,
        `${registry.host}/charts/demo:${version}`,
        '2024-05-06T07:08:09Z',
        signature,
      );
      expect((await imageOfChart(tgz, provenance)).manifest.digest).toBe(pushed);
    },
  );

  it('are pulled by Helm as ARC has pushed them', async () => {
    const server = await startWebServer();
    const tgz = await packChart({ 'Chart.yaml': chartYaml('demo', '2.0.0+b') });
    const digest = digestOf(tgz).slice('sha256:'.length);
    const entry = `- { name: demo, version: 2.0.0+b, digest: ${digest}, urls: [demo.tgz] }`;
    const index = Buffer.from(`apiVersion: v1\nentries:\n  demo:\n  ${entry}\n`);
    server.files.set('/index.yaml', { bytes: index, mediaType: 'application/yaml' });
    server.files.set('/demo.tgz', { bytes: tgz, mediaType: 'application/gzip' });
    const options = { signal: AbortSignal.timeout(30_000), workDir: folder };
    const copied = await copyArtifact(options, async (opening) => {
      const location = {
        name: 'src',
        remoteURL: server.url,
        repo: undefined,
        chart: 'demo',
        version: undefined,
        indexed: true,
      };
      const { source, tag } = await openChart(location, opening);
      const destination = { name: 'dst', remoteURL: `http://${registry.host}`, image: `mirror/demo:${tag}` };
      return { source, destination: registrySink(opening.session.repository(destination, 'pull,push')) };
    });
    await server.close();
    expect(JSON.parse(await helm('pull', `${registry.host}/mirror/demo:2.0.0+b`))).toEqual({
      manifest: copied.digest,
      chart: `sha256:${digest}`,
      name: 'demo',
      version: '2.0.0+b',
      provenance: 0,
    });
  });
});
