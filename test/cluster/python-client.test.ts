import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeCluster, startCluster } from '../fixtures/cluster/cluster.ts';
import { kubectl } from '../fixtures/cluster/kubectl.ts';
import { spawnStandalone } from '../fixtures/standalone/process.ts';

const program = 'test/cluster/clients/python/client.py';
const namespace = 'python';

/** What it sees of a Kubernetes API that is as it should be. */
const expected = {
  version: true,
  group: ['arc.opendefense.cloud'],
  kinds: ['ArtifactType', 'ArtifactWorkflow', 'ClusterArtifactType', 'Endpoint', 'Order'],
  generation: 1,
  clash: [409, 'AlreadyExists'],
  'unknown field': [400, 'BadRequest'],
  'merge patch': { x: 'y' },
  stale: [409, 'Conflict'],
  replace: 2,
  watch: ['ADDED b', 'ADDED c', 'DELETED b'],
  resumed: 'DELETED c',
  apply: 1,
  conflict: [409, 'Conflict'],
  // The only field that the first one set has been taken from it.
  owners: ['second'],
  listed: ['a', 'd'],
  deleted: ['a', 'd'],
  left: 0,
};

describeCluster('the Python client', (machine) => {
  const python = path.join(machine.assets, 'python/bin/python');
  const lacks = !existsSync(python);
  if (lacks && machine.assets && process.env.CI)
    throw new Error(`${python} is missing: run test/cluster/clients/build.sh`);
  if (lacks && machine.assets) console.log(`left out for want of ${python}: the Python client`);

  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'arc-python-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function run(kubeconfig: string): Promise<unknown> {
    const env = { ...process.env, HOME: folder };
    const tools = kubectl(path.join(machine.assets, 'kubectl'), { ...env, KUBECONFIG: kubeconfig });
    await tools.run(['create', 'namespace', namespace]);
    const args = [program, kubeconfig, namespace];
    const { stdout } = await promisify(execFile)(python, args, { env, timeout: 90_000 });
    return JSON.parse(stdout);
  }

  it.skipIf(lacks)('finds a Kubernetes API in the standalone', { timeout: 150_000 }, async () => {
    const standalone = await spawnStandalone({ folder: path.join(folder, 'state') });
    try {
      expect(await run(standalone.kubeconfig)).toEqual(expected);
    } finally {
      await standalone.stop();
    }
  });

  it.skipIf(lacks)('finds the same through the aggregator', { timeout: 240_000 }, async () => {
    const { plane, stop } = await startCluster(machine, { store: 'embedded' });
    try {
      expect(await run(plane.env.KUBECONFIG ?? '')).toEqual(expected);
    } finally {
      await stop();
    }
  });
});
