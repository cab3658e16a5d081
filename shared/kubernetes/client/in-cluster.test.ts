import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fileToken, inClusterConfig } from './in-cluster.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'arc-token-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('inClusterConfig', () => {
  it.each([
    [{ KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '6443' }, 'https://10.0.0.1:6443'],
    [{ KUBERNETES_SERVICE_HOST: 'fd00::1' }, 'https://[fd00::1]:443'],
    [{ KUBERNETES_SERVICE_HOST: '10.0.0.1', ARC_API_SERVER: 'http://127.0.0.1:1' }, 'http://127.0.0.1:1'],
  ])('finds the server in %j', (env, server) => {
    expect(inClusterConfig(env).server).toBe(server);
  });

  it('names the variables to set when no server is configured', () => {
    expect(() => inClusterConfig({})).toThrow(/KUBERNETES_SERVICE_HOST is not set.*ARC_API_SERVER/);
  });
});

describe('fileToken', () => {
  it('reads the token again after a minute, so that a rotated one is used', async () => {
    const path = join(folder, 'token');
    let now = 0;
    const token = fileToken(path, () => now);
    await writeFile(path, 'first\n');
    expect(await token()).toBe('first');
    await writeFile(path, 'second');
    now = 59_999;
    expect(await token()).toBe('first');
    now = 60_000;
    expect(await token()).toBe('second');
  });

  it('rejects with ServiceUnavailable when there is no token, and recovers', async () => {
    const path = join(folder, 'token');
    const token = fileToken(path);
    await expect(token()).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    await writeFile(path, ' \n');
    await expect(token()).rejects.toMatchObject({
      code: 'ServiceUnavailable',
      message: expect.stringMatching(/empty/),
    });
    await writeFile(path, 'here');
    expect(await token()).toBe('here');
  });
});
