import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '#shared/base/meta';
import { randomIntegers, runs, timeoutOf } from '#shared/base/testing';
import { endpoints, namespaces, type Order, orders, secrets } from '#shared/domain';
import { type Registry, seedImage, startRegistry } from '#shared/local';
import { apply } from '../../scripts/demo/apply.ts';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { type StandaloneProcess, spawnStandalone } from '../fixtures/standalone/process.ts';

const kills = runs(3);
const artifactsPerOrder = 2;
const password = 'a-password-of-the-kill-loop';

describe('kill -9 of the whole standalone', () => {
  let folder: string;
  let source: Registry;
  let destination: Registry;
  let running: StandaloneProcess;

  const start = () =>
    spawnStandalone({
      folder: path.join(folder, 'state'),
      programs: {
        'artifact-conduit:*': [
          '/usr/bin/env',
          `NODE_COMPILE_CACHE=${path.join(folder, 'compiled')}`,
          ...[process.execPath, path.resolve('test/chaos/recording-worker.ts'), folder],
        ].join(' '),
      },
    });

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'arc-kill-'));
    source = await startRegistry({ auth: 'basic', username: 'u', password });
    destination = await startRegistry({ auth: 'basic', username: 'u', password });
    await seedImage(source, 'team/app', '1.0', {
      platforms: ['linux/amd64'],
      layers: 2,
      layerBytes: 256 * 1024,
      signature: false,
    });
    running = await start();
  });

  afterAll(async () => {
    await running?.kill();
    await source?.close();
    await destination?.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  });

  it('loses no accepted Order and runs no artifact twice at once', {
    timeout: timeoutOf(240_000),
  }, async () => {
    const signal = AbortSignal.timeout(timeoutOf(230_000));
    // A busy machine may be too slow for a connection; nothing has been sent then.
    const applied = (object: KubeObject) =>
      eventually(`${object.metadata.name} to be accepted`, 30_000, async () => {
        await apply(running.admin, object, signal);
      });
    for (const object of tenant(source.url, destination.url)) await applied(object);

    const random = randomIntegers();
    for (let round = 0; round < kills; round++) {
      await applied(orderOf(round));
      await sleep(random(0, 1500)); // the moment of the kill is what varies, nothing is waited for
      await running.kill();
      running = await start();
    }

    await eventually('every Order to succeed', 120_000, async () => {
      const { items } = await running.admin.list(orders, { namespace: 'chaos' }, signal);
      expect(items.map(({ metadata, status }) => `${metadata.name} ${status?.phase}`).sort()).toEqual(
        Array.from({ length: kills }, (_, round) => `round-${round} Succeeded`).sort(),
      );
    });
    const started = (await readFile(path.join(folder, 'runs.log'), 'utf8')).trim().split('\n');
    expect(new Set(started).size).toBe(kills * artifactsPerOrder);
    expect(existsSync(path.join(folder, 'overlaps.log'))).toBe(false);
  });
});

function orderOf(round: number): Order {
  return {
    apiVersion: orders.apiVersion,
    kind: 'Order',
    metadata: { name: `round-${round}`, namespace: 'chaos' },
    spec: {
      defaults: { srcRef: { name: 'source' }, dstRef: { name: 'destination' } },
      artifacts: Array.from({ length: artifactsPerOrder }, (_, index) => ({
        type: 'oci',
        spec: { image: 'team/app:1.0', override: `round-${round}/app-${index}:1.0` },
      })),
    },
  };
}

function tenant(source: string, destination: string): KubeObject[] {
  const endpoint = (name: string, remoteURL: string): KubeObject => ({
    apiVersion: endpoints.apiVersion,
    kind: 'Endpoint',
    metadata: { name, namespace: 'chaos' },
    spec: { type: 'oci', remoteURL, secretRef: { name: 'credentials' } },
  });
  return [
    { apiVersion: namespaces.apiVersion, kind: 'Namespace', metadata: { name: 'chaos' } },
    {
      apiVersion: secrets.apiVersion,
      kind: 'Secret',
      metadata: { name: 'credentials', namespace: 'chaos' },
      stringData: { username: 'u', password },
    },
    endpoint('source', source),
    endpoint('destination', destination),
  ];
}
