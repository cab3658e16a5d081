import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { type Registry, seedImage } from '#shared/local';
import { digestOf } from '#shared/transfer';
import type { Arrival, SourcedArtifact } from './sources.ts';

/** A file on the web server. */
export interface WebFile {
  type: string;
  bytes: Buffer;
}

/** A chart in a repository, and the artifact that copies it with its images. */
export interface DemoChart {
  /** Files by their path in the repository. */
  files: Map<string, WebFile>;
  artifact: SourcedArtifact;
}

const name = 'shop';
const version = '1.4.0';
const size = { platforms: ['linux/amd64'], layers: 2, layerBytes: 1024 * 1024, signature: false };

/** Pushes two images into a registry, and creates a repository with a chart that refers to each in a different way. */
export async function makeChart(registry: Registry): Promise<DemoChart> {
  const { host } = registry;
  const images = [
    { repository: 'shop/web', tag: '1.4' },
    { repository: 'shop/database', tag: '16' },
  ];
  const arrivals: Arrival[] = [];
  for (const { repository, tag } of images) {
    const { digest } = await seedImage(registry, repository, tag, size);
    arrivals.push({ repository, tag, digest, of: 'artifact', referrers: 0 });
  }
  const values = `image:\n  registry: ${host}\n  repository: shop/web\n  tag: "1.4"\ndatabase:\n  image: ${host}/shop/database:16\n`;
  const archive = await packed({
    'Chart.yaml': `apiVersion: v2\nname: ${name}\nversion: ${version}\n`,
    'values.yaml': values,
  });
  const digest = digestOf(archive);
  const file = `${name}-${version}.tgz`;
  const entry = { apiVersion: 'v2', name, version, urls: [file], digest: digest.replace('sha256:', '') };
  const index = JSON.stringify({ apiVersion: 'v1', entries: { [name]: [entry] } });
  return {
    files: new Map([
      ['index.yaml', { type: 'application/yaml', bytes: Buffer.from(index) }],
      [file, { type: 'application/gzip', bytes: archive }],
    ]),
    artifact: {
      name,
      type: 'helm',
      source: 'charts',
      spec: { chart: name, version: '^1', repo: 'charts', withImages: true },
      arrivals: [
        { repository: `charts/${name}`, tag: version, digest, of: 'layer', referrers: 0 },
        ...arrivals,
      ],
    },
  };
}

/** Packs a chart like `helm package`. */
async function packed(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const archive = pack();
  for (const [path, text] of Object.entries(files)) archive.entry({ name: `${name}/${path}` }, text);
  archive.finalize();
  return gzipSync(await buffer(archive));
}
