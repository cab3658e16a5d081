import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { seedImage, startRegistry } from '#shared/local';
import { copyImage } from '../../shared/transfer/testing/copy-image.ts';
import {
  crane,
  type RegistryProcess,
  registryTools,
  startRegistryProcess,
} from '../fixtures/image/registry-tools.ts';

const tools = registryTools();
if (tools === undefined)
  console.log('skipped: blobs that a registry loses need REGISTRY_TOOLS with .ci/registry-tools/build.sh');
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

describe.skipIf(tools === undefined)('a CNCF registry that loses a blob behind its manifest', () => {
  let folder = '';
  let source: Awaited<ReturnType<typeof startRegistry>>;
  let destination: RegistryProcess;
  beforeAll(async () => {
    folder = await mkdtemp(`${os.tmpdir()}/arc-lost-`);
    source = await startRegistry();
    destination = await startRegistryProcess(tools ?? '');
  });
  afterAll(async () => {
    await Promise.all([source?.close(), destination?.stop()]);
    if (folder !== '') await rm(folder, { recursive: true });
  });

  const copy = (verify: boolean) =>
    copyImage({
      ...{ verify, workDir: folder, retry: { attempts: 1 }, signal: AbortSignal.timeout(60_000) },
      source: { name: 'src', remoteURL: source.url, image: 'team/app:1' },
      destination: { name: 'dst', remoteURL: `http://${destination.host}`, image: 'mirror/app:1' },
    });

  it('is repaired by a copy that verifies, and by no other', async () => {
    await seedImage(source, 'team/app', '1', { layerBytes: 10_000 });
    await copy(false);
    const repository = `${destination.host}/mirror/app`;
    const { manifests } = JSON.parse(await crane(tools ?? '', 'manifest', `${repository}:1`));
    const [{ digest: image }] = manifests;
    const { config, layers } = JSON.parse(await crane(tools ?? '', 'manifest', `${repository}@${image}`));
    for (const { digest } of [config, ...layers]) {
      const blob = `http://${destination.host}/v2/mirror/app/blobs/${digest}`;
      expect((await fetch(blob, { method: 'DELETE' })).status).toBe(202);
      expect((await copy(false)).blobs.copied).toBe(0);
      expect((await fetch(blob)).status).toBe(404);
      expect((await copy(true)).blobs.copied).toBe(1);
      expect((await fetch(blob)).status).toBe(200);
    }
    expect((await copy(true)).blobs.copied).toBe(0);
  });
});
