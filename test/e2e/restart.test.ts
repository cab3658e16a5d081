import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { endpoints, namespaces, orders } from '#shared/domain';
import { type Registry, seedImage, startRegistry } from '#shared/local';
import { apply } from '../../scripts/demo/apply.ts';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { type StandaloneProcess, spawnStandalone } from '../fixtures/standalone/process.ts';

describe('npm start that is told to end while an artifact is being moved', () => {
  let folder: string;
  let registry: Registry;
  let running: StandaloneProcess | undefined;

  beforeEach(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'arc-restart-'));
    registry = await startRegistry();
    const image = { platforms: ['linux/amd64'], layers: 1, layerBytes: 16 * 1024, signature: false };
    await seedImage(registry, 'team/app', '1.0', image);
  });
  afterEach(async () => {
    await running?.kill();
    await registry.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  });

  it('ends its workers and itself, and the next one goes on', { timeout: 300_000 }, async () => {
    registry.faults.add({ path: /^\/v2\/team\/app\/manifests/, fault: { kind: 'hang' }, times: 1 });
    const first = await spawnStandalone({ folder });
    running = first;
    const signal = AbortSignal.timeout(110_000);
    for (const object of tenant(registry.url))
      await eventually(`${object.kind} to be accepted`, 10_000, async () => {
        await apply(first.admin, object, signal);
      });
    const asked = () => registry.requests.some(({ path }) => path.includes('/manifests/'));
    await eventually('the worker to ask for the image', 30_000, () => expect(asked()).toBe(true));
    expect(await first.stop()).toBe(0);

    const second = await spawnStandalone({ folder });
    running = second;
    await eventually('the Order to succeed', 40_000, async () => {
      const order = await second.admin.get(orders, { namespace: 'team', name: 'order' }, signal);
      expect(order?.status).toMatchObject({ phase: 'Succeeded', counts: { total: 1, succeeded: 1 } });
    });
    expect(await second.stop()).toBe(0);
    expect(registry.contents.get('copy/app')?.tags.has('1.0')).toBe(true);
  });
});

function tenant(remoteURL: string) {
  const at = (name: string) => ({ name, namespace: 'team' });
  const group = endpoints.apiVersion;
  return [
    { apiVersion: 'v1', kind: namespaces.kind, metadata: { name: 'team' } },
    { apiVersion: group, kind: 'Endpoint', metadata: at('both'), spec: { type: 'oci', remoteURL } },
    {
      apiVersion: group,
      kind: 'Order',
      metadata: at('order'),
      spec: {
        defaults: { srcRef: { name: 'both' }, dstRef: { name: 'both' } },
        artifacts: [{ type: 'oci', spec: { image: 'team/app:1.0', override: 'copy/app:1.0' } }],
      },
    },
  ];
}
