import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { seedImage, startRegistry } from '#shared/local';
import { findRuntime } from '../../scripts/image/runtime.ts';
import { tarOf } from '../../scripts/image/tar.ts';
import { eventually } from '../../shared/base/testing/eventually.ts';
import type { Job } from '../../shared/domain/index.ts';
import { type ControlPlane, startControlPlane } from '../fixtures/cluster/control-plane.ts';
import { runImage, startInImage, unpackLayout } from '../fixtures/image/image-root.ts';
import {
  crane,
  type RegistryProcess,
  registryTools,
  startRegistryProcess,
} from '../fixtures/image/registry-tools.ts';
import { freePorts, type Program } from '../fixtures/program.ts';

const tools = registryTools();
const assets = process.env.KUBEBUILDER_ASSETS;
if (!tools) console.log('skipped: the tests of the image need REGISTRY_TOOLS (.ci/registry-tools/build.sh)');

interface Layer {
  digest: string;
  size: number;
}

// Every image compresses 120 MB of Node, and every check unpacks them.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let folder = '';
const inFolder = (name: string) => path.join(folder, name);
/** Of the image on nothing, in the layout `plain`. */
let digest = '';
beforeAll(async () => {
  if (!tools) return;
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-image-test-'));
  digest = await runImage(['--layout', inFolder('plain'), '--name', 'dev.local/arc/functions:v1']);
});
afterAll(async () => {
  if (folder !== '') await rm(folder, { recursive: true, force: true });
});

describe.skipIf(!tools)('the image in a registry that is not ours', () => {
  const use = (...args: string[]) => crane(tools ?? '', ...args);
  let registry: RegistryProcess;
  let other: RegistryProcess;
  let pushed = '';
  const asked = (line: RegExp) => [...registry.log().matchAll(line)].length;
  const uploads = () => asked(/"PUT \/v2\/[^ ]+\/blobs\/uploads\//g);
  const layersOf = async (image: string) => JSON.parse(await use('manifest', image)).layers;

  beforeAll(async () => {
    [registry, other] = [await startRegistryProcess(tools ?? ''), await startRegistryProcess(tools ?? '')];
    const content = Buffer.from('of the base');
    await writeFile(
      inFolder('base.tar'),
      await tarOf([{ type: 'file', path: 'etc/base', mode: 0o644, content }], 0),
    );
    await use('append', '--oci-empty-base', '-f', inFolder('base.tar'), '-t', `${other.host}/base:0`);
    const { architecture } = await findRuntime();
    await use(
      'mutate',
      `${other.host}/base:0`,
      '--set-platform',
      `linux/${architecture}`,
      '-t',
      `${other.host}/base:1`,
    );
    await use('copy', `${other.host}/base:1`, `${registry.host}/base:1`);
    pushed = await runImage([
      '--base',
      `${registry.host}/base:1`,
      '--push',
      `${registry.host}/arc/functions:1`,
    ]);
  });
  afterAll(() => Promise.all([registry?.stop(), other?.stop()]));

  it('is valid for crane, under the printed digest', async () => {
    expect(pushed).toBe(
      `${registry.host}/arc/functions:1@${await use('digest', `${registry.host}/arc/functions:1`)}`,
    );
    await use('validate', '--remote', pushed);
    const { config } = JSON.parse(await use('config', pushed));
    expect(config).toMatchObject({ User: '65532:65532', Entrypoint: ['/usr/local/bin/node'] });
  });

  it('has the layers of the base, mounted and not sent', async () => {
    const base = await layersOf(`${registry.host}/base:1`);
    const layers = await layersOf(pushed);
    expect(layers.slice(0, 1)).toMatchObject(base.map(({ digest, size }: Layer) => ({ digest, size })));
    expect(asked(/"POST \/v2\/arc\/functions\/blobs\/uploads\/\?\S*mount=\S+ HTTP\/1.1" 201 /g)).toBe(1);
    // Node, the programs and the configuration
    expect(asked(/"PUT \/v2\/arc\/functions\/blobs\/uploads\//g)).toBe(3);
  });

  it('has the same layers with a base of another registry, and sends only those that the registry lacks', async () => {
    const before = uploads();
    const again = await runImage([
      '--base',
      `${other.host}/base:1`,
      '--push',
      `${registry.host}/arc/functions:2`,
    ]);
    expect(await layersOf(again)).toEqual(await layersOf(pushed));
    expect(uploads()).toBe(before + 1); // the configuration, which names its base
    const elsewhere = await runImage([
      '--base',
      `${registry.host}/base:1`,
      '--push',
      `${other.host}/arc/copy:1`,
    ]);
    await use('validate', '--remote', elsewhere);
    expect(elsewhere.split('@')[1]).toBe(pushed.split('@')[1]);
  });

  it('comes out of a layout as crane reads it', async () => {
    await use('push', inFolder('plain'), `${registry.host}/arc/plain:1`);
    expect(await use('digest', `${registry.host}/arc/plain:1`)).toBe(digest);
    await use('validate', '--remote', `${registry.host}/arc/plain:1`);
  });

  it('is the same when another user builds it from another folder', async () => {
    const tree = inFolder('tree');
    await mkdir(tree);
    for (const name of ['functions', 'shared', 'scripts', 'knative', 'docs', 'package.json', 'tsconfig.json'])
      await cp(name, path.join(tree, name), { recursive: true });
    await symlink(path.resolve('node_modules'), path.join(tree, 'node_modules'));
    const elsewhere = { TZ: 'Pacific/Auckland', HOME: tree, TMPDIR: tree };
    expect(await runImage(['--layout', inFolder('again')], elsewhere, tree)).toBe(digest);
    expect(await readdir(inFolder('again/blobs/sha256'))).toEqual(
      await readdir(inFolder('plain/blobs/sha256')),
    );
  });
});

describe.skipIf(!tools || !assets)('the programs of the image, with no file but the image’s in sight', () => {
  const token = 'var/run/secrets/kubernetes.io/serviceaccount';
  let root = '';
  let plane: ControlPlane;
  const running: Program[] = [];

  beforeAll(async () => {
    root = inFolder('root');
    await unpackLayout(inFolder('plain'), root);
    plane = await startControlPlane(assets ?? '', '127.0.0.1');
    // What a pod finds. The rights of each account are for other tests.
    await plane.kubectl(['create', 'namespace', 'arc-system']);
    await plane.kubectl(['create', 'serviceaccount', 'all', '-n', 'arc-system']);
    const bind = ['--clusterrole=cluster-admin', '--serviceaccount=arc-system:all'];
    await plane.kubectl(['create', 'clusterrolebinding', 'all', ...bind]);
    const { stdout } = await plane.kubectl(['create', 'token', 'all', '-n', 'arc-system', '--duration=1h']);
    await put(`${token}/token`, stdout.trim());
    await put(`${token}/ca.crt`, plane.authority.cert);
  });
  afterAll(async () => {
    await Promise.all(running.map((program) => program.stop()));
    await plane?.stop();
  });

  async function put(name: string, text: string): Promise<void> {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), text, { mode: 0o644 });
  }

  function begin(name: string, env: NodeJS.ProcessEnv): Program {
    const { hostname, port } = new URL(plane.url);
    const cluster = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
    const program = startInImage(root, name, { NODE_ENV: 'production', ...cluster, ...env });
    running.push(program);
    return program;
  }

  it('are all there are in functions/, the console, and the reader of kubeconfigs', async () => {
    const deployed = (await readdir('functions', { recursive: true }))
      .filter((file) => /^[^/]+\/(main\.ts|func\.yaml)$/.test(file))
      .map((file) => `${path.dirname(file)}.mjs`);
    // And the one file that they load to read a kubeconfig.
    expect(await readdir(path.join(root, 'app'))).toEqual(
      [...new Set([...deployed, 'console.mjs', 'kubeconfig.mjs'])].sort(),
    );
  });

  it('start, are ready, and end on SIGTERM', async () => {
    for (const file of await readdir('functions', { recursive: true })) {
      if (path.basename(file) !== 'func.yaml') continue;
      const name = path.dirname(file);
      const [port] = await freePorts(1);
      const program = begin(name, { PORT: String(port), K_SERVICE: name });
      await eventually(`${name} to be ready`, 30_000, async () => {
        program.mustRun();
        expect((await fetch(`http://127.0.0.1:${port}/health/readiness`)).status).toBe(200);
      });
      expect(await program.stop(), program.output.stdout).toBe(0);
    }
  });

  it('watch-bridge finds the cluster', async () => {
    const [port] = await freePorts(1);
    const program = begin('watch-bridge', { PORT: String(port), K_SINK: 'http://127.0.0.1:9' });
    await eventually('watch-bridge to live', 30_000, async () => {
      program.mustRun();
      expect((await fetch(`http://127.0.0.1:${port}/health/liveness`)).status).toBe(200);
    });
    await program.stop();
  });

  it('api-server serves from etcd', async () => {
    const serving = await plane.authority.issue({ name: 'api' }, { hosts: ['127.0.0.1'], use: 'server' });
    await put('etc/arc/tls/tls.crt', serving.cert);
    await put('etc/arc/tls/tls.key', serving.key);
    const [port] = await freePorts(1);
    const program = begin('api-server', {
      PORT: String(port),
      ARC_ETCD_ENDPOINTS: plane.etcd,
      ARC_ETCD_PREFIX: '/arc/',
      ARC_SHUTDOWN_DELAY_SECONDS: '0',
    });
    const { env } = plane;
    const accountToken = await readFile(path.join(root, token, 'token'), 'utf8');
    const direct = [
      '--kubeconfig=/dev/null',
      `--server=https://127.0.0.1:${port}`,
      `--token=${accountToken}`,
    ];
    const authority = `--certificate-authority=${path.join(root, token, 'ca.crt')}`;
    await eventually('our API server to answer from its store', 30_000, async () => {
      program.mustRun();
      const list = ['get', '--raw', '/apis/arc.opendefense.cloud/v1alpha1/orders'];
      const { stdout } = await plane.kubectl([...list, ...direct, authority], { env });
      expect(JSON.parse(stdout)).toMatchObject({ kind: 'OrderList', items: [] });
    });
    expect(await program.stop(), program.output.stdout).toBe(0);
  });

  it('transfer-worker moves an image between two registries that are not ours', async () => {
    const [source, destination] = [
      await startRegistryProcess(tools ?? ''),
      await startRegistryProcess(tools ?? ''),
    ];
    const seeded = await startRegistry();
    try {
      const image = await seedImage(seeded, 'team/app', '1.0');
      await crane(tools ?? '', 'copy', `${seeded.host}/team/app:1.0`, `${source.host}/team/app:1.0`);
      const at = (name: string, { host }: RegistryProcess) => ({
        name,
        type: 'oci',
        remoteURL: `http://${host}`,
      });
      const job: Job = {
        artifact: { type: 'oci', spec: { image: 'team/app:1.0', override: 'mirror/app' } },
        source: at('from', source),
        destination: at('to', destination),
      };
      await put('etc/arc/config/job.json', JSON.stringify(job));
      const program = begin('transfer-worker', {});
      await eventually('the worker to end', 60_000, () => expect(program.child.exitCode).not.toBeNull());
      expect(program.output.stdout).toContain(`"digest":"${image.digest}"`);
      expect(await crane(tools ?? '', 'digest', `${destination.host}/mirror/app:1.0`)).toBe(image.digest);
    } finally {
      await Promise.all([source.stop(), destination.stop(), seeded.close()]);
    }
  });
});
