import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '#shared/base/telemetry';
import { orders } from '#shared/domain';
import { parseManifests } from '#shared/local';
import { apply } from '../demo/apply.ts';
import { greeting } from './greeting.ts';
import { type Standalone, startStandalone } from './standalone.ts';

const root = path.resolve(import.meta.dirname, '../..');
let folder: string;
let standalone: Standalone;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'greeting-'));
  const log = createLogger({ name: 'test', level: 'silent' });
  standalone = await startStandalone({ folder, port: 0, programs: {}, log });
});

afterAll(async () => {
  await standalone.close();
  await rm(folder, { recursive: true });
});

describe('what npm start prints', () => {
  it('is a list of commands after which an Order runs', async () => {
    const commands = greeting({ ...standalone, folder, dashboard: '' }, root)
      .split('\n')
      .filter((line) => line.includes('kubectl apply'));
    const files = commands.flatMap((line) => [...line.matchAll(/-f (\S+)/g)].map(([, file = '']) => file));
    expect(files.length).toBeGreaterThan(1);
    for (const file of files) {
      const text = await readFile(path.join(root, file), 'utf8');
      for (const object of parseManifests(text, file)) {
        await apply(standalone.admin, object, AbortSignal.timeout(5_000));
      }
    }
    const started = async () =>
      (await standalone.admin.get(orders, { namespace: 'demo', name: 'images' }))?.status?.startTime;
    await expect.poll(started, { timeout: 15_000, message: 'an artifact starts' }).toBeDefined();
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
