import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '#shared/base/telemetry';
import { endpoints, orders } from '#shared/domain';
import { parseManifests } from '#shared/local';
import { apply } from '../demo/apply.ts';
import { greeting } from './greeting.ts';
import { startOwnRegistries } from './own-registries.ts';
import { type Standalone, startStandalone } from './standalone.ts';
import { applyStandardTypes } from './standard-types.ts';

const root = path.resolve(import.meta.dirname, '../..');
let folder: string;
let standalone: Standalone;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'greeting-'));
  const log = createLogger({ name: 'test', level: 'silent' });
  standalone = await startStandalone({ folder, port: 0, programs: {}, log });
  expect(await applyStandardTypes(standalone.transport)).toEqual([]);
});

afterAll(async () => {
  await standalone.close();
  await rm(folder, { recursive: true });
});

/** What the commands `kubectl apply -f` of the greeting apply, as this standalone takes it. */
async function applyAsPrinted(text: string): Promise<void> {
  const files = [...text.matchAll(/kubectl apply -f (\S+)/g)].map(([, file = '']) => file);
  expect(files).toHaveLength(1);
  for (const file of files)
    for (const object of parseManifests(await readFile(path.resolve(root, file), 'utf8'), file))
      await apply(standalone.admin, object, AbortSignal.timeout(5_000));
}

const statusOf = async (namespace: string, name: string) =>
  (await standalone.admin.get(orders, { namespace, name }))?.status;

describe('what npm start prints', () => {
  it('is a list of commands after which an Order runs', async () => {
    await applyAsPrinted(greeting({ ...standalone, folder, dashboard: '' }, root));
    const started = async () => (await statusOf('demo', 'images'))?.startTime;
    await expect.poll(started, { timeout: 15_000, message: 'an artifact starts' }).toBeDefined();
  });

  it('is a list of commands after which an Order succeeds, with registries of its own', async () => {
    const registries = await startOwnRegistries(standalone.transport, folder);
    try {
      const { firstOrder } = registries;
      const text = greeting({ ...standalone, folder, dashboard: '', firstOrder }, root);
      expect(text).toContain('wait -n trial --for=condition=Ready order/first');
      await applyAsPrinted(text);
      await expect
        .poll(async () => (await statusOf('trial', 'first'))?.phase, { timeout: 30_000 })
        .toBe('Succeeded');
    } finally {
      await registries.close();
    }
  });

  it('finds its registries where they were, so that no Order runs again', async () => {
    const addresses: string[] = [];
    for (let start = 0; start < 2; start += 1) {
      const registries = await startOwnRegistries(standalone.transport, folder);
      const source = await standalone.admin.get(endpoints, { namespace: 'trial', name: 'source' });
      addresses.push(source?.spec.remoteURL ?? '');
      await registries.close();
    }
    expect(addresses[1]).toBe(addresses[0]);
  });

  it('names the kubeconfig relative to the folder, or else by its absolute path', () => {
    const none = { url: '', dashboard: 'http://127.0.0.1:1/?token=a' };
    const inside = greeting({ ...none, folder: '.arc', kubeconfig: '/tree/.arc/kubeconfig' }, '/tree');
    expect(inside).toContain('export KUBECONFIG=$PWD/.arc/kubeconfig\n');
    expect(inside).toContain(`${none.dashboard}\n`);
    const outside = greeting({ ...none, folder: '/data', kubeconfig: '/data/kubeconfig' }, '/tree');
    expect(outside).toContain('export KUBECONFIG=/data/kubeconfig\n');
  });
});
