import os from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Registry, seedImage, startRegistry } from '#shared/local';
import { openSession } from '#shared/transfer';
import { copyImage } from '../../shared/transfer/testing/copy-image.ts';
import {
  type RegistryProcess,
  registryTools,
  startRegistryProcess,
} from '../fixtures/image/registry-tools.ts';

const tools = registryTools();
if (!tools)
  console.log('skipped: the catalog of a registry needs REGISTRY_TOOLS (.ci/registry-tools/build.sh)');

describe.skipIf(!tools)('the catalog of a registry that is not ours', () => {
  let registry: RegistryProcess;
  let seeded: Registry;
  beforeAll(async () => {
    registry = await startRegistryProcess(tools ?? '');
    seeded = await startRegistry();
  });
  afterAll(() => Promise.all([registry?.stop(), seeded?.close()]));

  it('names what is below an Endpoint', async () => {
    await seedImage(seeded, 'team/app', '1.0', { layerBytes: 100, signature: false });
    const source = { name: 'src', remoteURL: seeded.url, image: 'team/app:1.0' };
    const url = `http://${registry.host}`;
    for (const image of ['mirror/a:1', 'mirror/team/b:1', 'mirrors/c:1'])
      await copyImage({
        source,
        destination: { name: 'dst', remoteURL: url, image },
        signal: AbortSignal.timeout(30_000),
        workDir: os.tmpdir(),
      });
    const session = openSession();
    try {
      const below = (remoteURL: string) =>
        session.repositories({ name: 'dst', remoteURL }, AbortSignal.timeout(10_000));
      expect(await below(url)).toEqual(['mirror/a', 'mirror/team/b', 'mirrors/c']);
      expect(await below(`${url}/mirror`)).toEqual(['a', 'team/b']);
    } finally {
      session.close();
    }
  });
});
