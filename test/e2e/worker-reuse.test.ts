import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { endpoints, namespaces, orders, pods } from '#shared/domain';
import { type Registry, seedImage, startRegistry } from '#shared/local';
import { apply } from '../../scripts/demo/apply.ts';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { type StandaloneProcess, spawnStandalone } from '../fixtures/standalone/process.ts';

const account = { username: 'mover', password: 'pass-of-the-team' };

describe('workers of npm start, which do one run after the other', () => {
  let folder: string;
  let registry: Registry;
  let standalone: StandaloneProcess;
  let signal: AbortSignal;

  beforeEach(async () => {
    signal = AbortSignal.timeout(280_000);
    folder = await mkdtemp(path.join(os.tmpdir(), 'arc-reuse-'));
    registry = await startRegistry(account);
    for (const image of ['team/app', 'team/slow'])
      await seedImage(registry, image, '1.0', {
        platforms: ['linux/amd64'],
        layers: 1,
        layerBytes: 4096,
        signature: false,
      });
    standalone = await spawnStandalone({ folder });
  });
  afterEach(async () => {
    await standalone.kill();
    await registry.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  });

  const accepted = (object: Parameters<typeof apply>[1]) =>
    eventually(`${object.kind} to be accepted`, 10_000, async () => {
      await apply(standalone.admin, object, signal);
    });
  /** A namespace with an Endpoint, with the account or without, and an Order that copies the images. */
  async function order(namespace: string, images: readonly string[], isKnown: boolean) {
    const { apiVersion } = endpoints;
    const at = (name: string) => ({ name, namespace });
    const secretRef = isKnown ? { secretRef: { name: 'account' } } : {};
    const artifacts = images.map((image, index) => ({
      type: 'oci',
      spec: { image: `${image}:1.0`, override: `${namespace}/copy-${index}:1.0` },
    }));
    const both = { srcRef: { name: 'both' }, dstRef: { name: 'both' } };
    const spec = { type: 'oci', remoteURL: registry.url, ...secretRef };
    await accepted({ apiVersion: 'v1', kind: namespaces.kind, metadata: { name: namespace } });
    await accepted({ apiVersion: 'v1', kind: 'Secret', metadata: at('account'), stringData: account });
    await accepted({ apiVersion, kind: 'Endpoint', metadata: at('both'), spec });
    const wanted = { spec: { defaults: both, artifacts } };
    await accepted({ apiVersion, kind: 'Order', metadata: at('order'), ...wanted });
  }
  const ended = async (namespace: string, phase: string) => {
    await eventually(`the Order of ${namespace} to be ${phase}`, 50_000, async () => {
      const found = await standalone.admin.get(orders, { namespace, name: 'order' }, signal);
      expect(found?.status?.phase).toBe(phase);
    });
    return standalone.admin.get(orders, { namespace, name: 'order' }, signal);
  };
  const failedLogs = async (namespace: string) => {
    const whole = { container: 'main', tailLines: 100, limitBytes: 65_536 };
    const selection = { namespace, fieldSelector: 'status.phase=Failed' };
    const { items } = await standalone.admin.list(pods, selection, signal);
    return Promise.all(items.map(({ metadata }) => standalone.admin.log(metadata, whole, signal)));
  };

  it('give each run its own log, and none the credentials of another', { timeout: 300_000 }, async () => {
    const workers = new Set<number>();
    const looking = setInterval(async () => {
      for (const pid of await workersOf(standalone.pid)) workers.add(pid);
    }, 100);
    const images = Array.from({ length: 30 }, (_, index) =>
      index % 3 === 0 ? `team/none-${index}` : 'team/app',
    );
    await Promise.all([
      order('known', images, true),
      order(
        'unknown',
        Array.from({ length: 10 }, () => 'team/app'),
        false,
      ),
    ]);
    const known = await ended('known', 'Failed');
    const unknown = await ended('unknown', 'Failed');
    clearInterval(looking);

    expect(workers.size).toBeGreaterThan(0);
    expect(workers.size).toBeLessThan(20);
    expect(known?.status?.counts).toMatchObject({ succeeded: 20, failed: 10 });
    expect(unknown?.status?.counts).toMatchObject({ succeeded: 0, failed: 10 });
    const named = (await failedLogs('known')).map((log) => {
      expect(log.trimEnd().split('\n')).toHaveLength(1);
      return /team\/none-\d+/.exec(JSON.parse(log).message)?.[0] ?? log;
    });
    expect(named.sort()).toEqual(images.filter((image) => image !== 'team/app').sort());
    for (const log of await failedLogs('unknown'))
      expect(JSON.parse(log)).toMatchObject({ outcome: 'failed', reason: 'auth' });
    const strange = registry.requests.filter((each) => each.path.includes('/unknown/') && each.authorized);
    expect(strange).toEqual([]);
  });

  it('end when they are killed, and with npm start, and harm no other', { timeout: 300_000 }, async () => {
    registry.faults.add({ path: /^\/v2\/team\/slow\/manifests/, fault: { kind: 'hang' }, times: 1 });
    await order('before', ['team/app', 'team/app', 'team/app'], true);
    await ended('before', 'Succeeded');
    await order('team', ['team/slow', ...Array.from({ length: 6 }, () => 'team/app')], true);
    const copies = () =>
      [1, 2, 3, 4, 5, 6].filter((index) => registry.contents.get(`team/copy-${index}`)?.tags.size);
    await eventually('the others to arrive', 30_000, () => expect(copies()).toHaveLength(6));
    await eventually('the one that hangs to be the last', 10_000, async () => {
      const [hanging = 0, ...others] = await recorded(path.join(folder, 'runs'));
      expect(others).toEqual([]);
      process.kill(hanging, 'SIGKILL');
    });
    const killed = await ended('team', 'Failed');
    expect(killed?.status?.counts).toMatchObject({ succeeded: 6, failed: 1 });

    const left = await workersOf(standalone.pid);
    expect(left.length).toBeGreaterThan(0);
    await standalone.kill();
    await eventually('its workers to end', 10_000, () => expect(left.filter(isAlive)).toEqual([]));
  });
});

/** The processes of the worker that it has started. */
async function workersOf(parent: number): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'pid=,ppid=,args=', '-A']);
  return stdout.split('\n').flatMap((line) => {
    const [pid, ppid] = line.trim().split(/\s+/);
    return Number(ppid) === parent && line.includes('transfer-worker.mjs') ? [Number(pid)] : [];
  });
}

/** Those that are at work. Rejects while one of them comes or goes. */
async function recorded(runs: string): Promise<number[]> {
  const folders = (await readdir(runs)).filter((name) => !name.startsWith('.'));
  const texts = folders.map((name) => readFile(path.join(runs, name, 'process.json'), 'utf8'));
  return (await Promise.all(texts)).map((text) => (JSON.parse(text) as { pid: number }).pid);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
