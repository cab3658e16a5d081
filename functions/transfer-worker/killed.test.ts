import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Registry, seedImage, startRegistry } from '#shared/local';
import { runs, timeoutOf } from '../../shared/base/testing/index.ts';
import { workerCommand } from './testing/worker-command.ts';

/** In `npm test` at some of its requests, in a soak at each. */
const stride = runs(1) > 1 ? 1 : 13;

const [program = '', ...args] = await workerCommand();
let folder = '';
let source: Registry;
let destination: Registry;
let digest = '';
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-killed-'));
  source = await startRegistry();
  destination = await startRegistry();
  ({ digest } = await seedImage(source, 'team/app', '1.0', { platforms: ['linux/amd64'], layers: 1 }));
  const end = (remoteURL: string) => ({ name: 'end', type: 'oci', remoteURL });
  const job = {
    artifact: { type: 'oci', spec: { image: 'team/app:1.0', override: 'mirror/app:1.0' } },
    source: end(source.url),
    destination: end(destination.url),
  };
  await mkdir(path.join(folder, 'config'));
  await writeFile(path.join(folder, 'config', 'job.json'), JSON.stringify(job));
});
afterEach(async () => {
  await Promise.all([source.close(), destination.close()]);
  await rm(folder, { recursive: true });
});

function start(): ChildProcess {
  const env = {
    ARC_CONFIG_DIR: path.join(folder, 'config'),
    ARC_WORK_DIR: path.join(folder, 'work'),
    ARC_RESULT_FILE: path.join(folder, 'result.json'),
    ARC_TERMINATION_LOG: path.join(folder, 'termination'),
  };
  return spawn(program, args, { env, stdio: 'ignore' });
}

/** Runs the worker, which is killed while request `position` waits for its answer; true if it was, false if it had ended before. */
async function killAt(position: number): Promise<boolean> {
  const reached = Promise.withResolvers<boolean>();
  let count = 0;
  for (const { faults } of [source, destination])
    faults.take = () => {
      if (count++ !== position) return undefined;
      reached.resolve(true);
      return { kind: 'hang' };
    };
  const child = start();
  const ended = once(child, 'exit');
  void ended.then(() => reached.resolve(false));
  const killed = await reached.promise;
  child.kill('SIGKILL');
  await ended;
  for (const { faults } of [source, destination]) faults.take = () => undefined;
  return killed;
}

describe('a worker that is killed', { timeout: timeoutOf(120_000) }, () => {
  it('at any of its requests leaves a complete tag or none, and the next run completes the copy', async () => {
    let position = 0;
    while (await killAt(position)) {
      const at = destination.contents.get('mirror/app');
      const isWhole =
        at?.manifests.size === 3 && at.blobs.size === source.contents.get('team/app')?.blobs.size;
      expect([position, at?.tags.has('1.0') === true && !isWhole]).toEqual([position, false]);
      const again = start();
      const [code] = (await once(again, 'exit')) as [number | null];
      expect([position, code]).toEqual([position, 0]);
      expect(destination.contents.get('mirror/app')?.tags.get('1.0')).toBe(digest);
      destination.contents.clear();
      position += stride;
    }
    expect(position).toBeGreaterThan(20);
  });
});
