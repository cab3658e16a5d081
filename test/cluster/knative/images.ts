import { mkdtemp, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { seedImage, startRegistry } from '#shared/embedded';
import { crane, registryTools } from '../../fixtures/image/registry-tools.ts';
import { field } from './kubectl.ts';

/** The two registries of objects/registries.yaml, as this machine reaches them. */
export interface Registries {
  source: string;
  destination: string;
  /** Pushes a two-platform image to the source; resolves with the digest of its index. */
  seed(repository: string, tag: string, layerBytes?: number): Promise<string>;
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
  return {
    source,
    destination,
    async seed(repository, tag, layerBytes = 256 * 1024) {
      const registry = await startRegistry({});
      try {
        const image = await seedImage(registry, repository, tag, { signature: false, layerBytes });
        const from = `${new URL(registry.url).host}/${repository}:${tag}`;
        await crane(tools, 'copy', '--insecure', from, `${source}/${repository}:${tag}`);
        return image.digest;
      } finally {
        await registry.close();
      }
    },
    digest: (reference) => crane(tools, 'digest', '--insecure', reference),
    manifest: (reference) => crane(tools, 'manifest', '--insecure', reference),
  };
}
