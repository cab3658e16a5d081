import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeApi } from '../../kubernetes/client/testing/fake-api/fake-api.ts';
import type { Plan } from './plan.ts';
import { environmentOf, localPath, makeRunFolder, readIfThere } from './run-folder.ts';
import { secrets, type Volume } from './workflow.ts';

let root: string;
let api: FakeApi;
beforeEach(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'run-'));
  api = new FakeApi();
  await api.client.create(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', namespace: 'ns' },
    data: { 'job.json': Buffer.from('{}').toString('base64'), '../out': 'eA==' },
  });
});
afterEach(() => rm(root, { recursive: true }));

const container = {
  name: 'main',
  image: 'i',
  args: [],
  env: [
    { name: 'MINE', value: 'x' },
    { name: 'HOME', value: '/root' },
  ],
  mounts: [
    { name: 'config', mountPath: '/etc/arc/config/' },
    { name: 'work', mountPath: '/tmp/arc' },
  ],
};
const make = (volumes: Volume[]) => {
  const plan: Plan = {
    templateName: 't',
    containers: [container],
    volumes,
    outputs: [],
    deadlineSeconds: undefined,
    attemptSeconds: undefined,
    retry: undefined,
  };
  const claims = path.join(root, 'claims');
  return makeRunFolder(path.join(root, 'u.0'), claims, plan, 'ns', api.client, new AbortController().signal);
};
const config = (over: object = {}): Volume => ({ name: 'config', secret: { secretName: 's', ...over } });
const work: Volume = { name: 'work', emptyDir: {} };

describe('makeRunFolder', () => {
  it('has a folder for each claim of a namespace, which stays, and none for a name that is a path', async () => {
    const claim = (claimName: string): Volume => ({ name: 'bundles', persistentVolumeClaim: { claimName } });
    const run = await make([claim('arc-bundles')]);
    expect(run.volumes.get('bundles')).toBe(path.join(root, 'claims/ns/arc-bundles'));
    expect((await stat(path.join(root, 'claims/ns/arc-bundles'))).mode & 0o777).toBe(0o700);
    for (const name of ['../../etc', 'a/b', '..', 'a..b', ''])
      await expect(make([claim(name)])).rejects.toMatchObject({ code: 'NotFound' });
  });

  it('writes Secrets as files that only we can read, and nothing outside', async () => {
    const run = await make([config(), work]);
    const file = path.join(run.volumes.get('config') ?? '', 'job.json');
    expect(await readFile(file, 'utf8')).toBe('{}');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(run.path)).mode & 0o777).toBe(0o700);
    expect(await readIfThere(path.join(run.path, 'volumes/out'), 10)).toBeUndefined();
  });

  it('wants a Secret unless it is optional', async () => {
    await expect(make([config({ secretName: 'none' })])).rejects.toThrow(
      'MountVolume.SetUp failed for volume "config" : secret "none" not found',
    );
    await expect(make([config({ secretName: 'none', optional: true })])).resolves.toBeDefined();
  });
});

describe('environmentOf', () => {
  it('tells the program where its files are, and little else', async () => {
    const run = await make([config(), work]);
    const env = environmentOf(run, container, {
      PATH: '/bin',
      AWS_SECRET_ACCESS_KEY: 'x',
      NODE_OPTIONS: 'y',
    });
    expect(env).toMatchObject({
      PATH: '/bin',
      MINE: 'x',
      ARC_CONFIG_DIR: run.volumes.get('config'),
      ARC_WORK_DIR: run.volumes.get('work'),
      ARC_RESULT_FILE: path.join(run.volumes.get('work') ?? '', 'result.json'),
      ARGO_PROGRESS_FILE: run.progressFile,
      ARC_EXIT_WITH_PARENT: '1',
      ARC_WAITS_DIR: path.join(path.dirname(run.path), '.waits'),
      ARC_RUN: 'u.0',
      HOME: path.join(run.path, 'home'),
    });
    expect(env).not.toHaveProperty('AWS_SECRET_ACCESS_KEY');
    expect(env).not.toHaveProperty('NODE_OPTIONS');
  });
});

describe('localPath', () => {
  it('maps paths under the mounts and nothing else', async () => {
    const run = await make([config(), work]);
    const at = run.volumes.get('work') ?? '';
    expect(localPath(run, container, '/tmp/arc/result.json')).toBe(path.join(at, 'result.json'));
    expect(localPath(run, container, '/tmp/arc/../arc/a/b')).toBe(path.join(at, 'a/b'));
    expect(localPath(run, container, '/etc/passwd')).toBeUndefined();
    expect(localPath(run, container, '/tmp/arc/../../etc/passwd')).toBeUndefined();
  });
});

describe('readIfThere', () => {
  it('reads a bounded part', async () => {
    await writeFile(path.join(root, 'f'), '12345');
    expect(await readIfThere(path.join(root, 'f'), 3)).toBe('123');
    expect(await readIfThere(path.join(root, 'none'), 3)).toBeUndefined();
  });
});
