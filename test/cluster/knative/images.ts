import { mkdtemp, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type Registry, seedImage, startRegistry } from '#shared/local';
import { seedChart } from '../../../shared/transfer/testing/charts.ts';
import { pushAlpine } from '../../fixtures/image/alpine-image.ts';
import { crane, registryTools } from '../../fixtures/image/registry-tools.ts';
import { field } from './kubectl.ts';

/** The two registries of objects/registries.yaml, as this machine reaches them. */
export interface Registries {
  source: string;
  destination: string;
  /** Pushes a two-platform image to the source; resolves with the digest of its index. */
  seed(repository: string, tag: string, layerBytes?: number): Promise<string>;
  /** Pushes an image with one package of Alpine Linux, musl of that version, to the source; resolves with its digest. */
  seedAlpine(repository: string, tag: string, musl: string): Promise<string>;
  /** Pushes a chart to the source, under its version. */
  seedChart(repository: string, tgz: Buffer): Promise<void>;
  digest(reference: string): Promise<string>;
  manifest(reference: string): Promise<string>;
}

export async function reachRegistries(): Promise<Registries> {
  const tools = registryTools();
  if (tools === undefined)
    throw new Error('set REGISTRY_TOOLS to a folder made by .ci/registry-tools/build.sh');
  const address = async (name: string) =>
    `${await field('{.spec.clusterIP}', '-n', 'registries', 'service', name)}:5000`;
  const source = await address('source');
  const destination = await address('destination');
  const folder = await mkdtemp(path.join(os.tmpdir(), 'arc-docker-config-'));
  const auth = Buffer.from('reader:moves-images').toString('base64');
  await writeFile(path.join(folder, 'config.json'), JSON.stringify({ auths: { [source]: { auth } } }));
  process.env.DOCKER_CONFIG = folder;
  /** Pushes what `fill` puts into a registry of ours under this repository; resolves with its digest. */
  async function push(repository: string, fill: (registry: Registry) => Promise<unknown>): Promise<string> {
    const registry = await startRegistry({});
    try {
      await fill(registry);
      const [[tag, digest] = ['', '']] = registry.contents.get(repository)?.tags ?? [];
      const from = `${new URL(registry.url).host}/${repository}:${tag}`;
      await crane(tools ?? '', 'copy', '--insecure', from, `${source}/${repository}:${tag}`);
      return digest;
    } finally {
      await registry.close();
    }
  }
  return {
    source,
    destination,
    seed: (repository, tag, layerBytes = 256 * 1024) =>
      push(repository, (registry) => seedImage(registry, repository, tag, { signature: false, layerBytes })),
    seedAlpine: (repository, tag, musl) => pushAlpine(tools, `${source}/${repository}:${tag}`, musl),
    async seedChart(repository, tgz) {
      await push(repository, (registry) => seedChart(registry, repository, tgz));
    },
    digest: (reference) => crane(tools, 'digest', '--insecure', reference),
    manifest: (reference) => crane(tools, 'manifest', '--insecure', reference),
  };
}
