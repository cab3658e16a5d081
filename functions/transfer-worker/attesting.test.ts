import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Job } from '#shared/domain';
import { attesting } from './attesting.ts';

const end = { name: 'end', type: 'oci', remoteURL: 'https://registry.example.com' };
const job: Job = { artifact: { type: 'oci', spec: {} }, source: end, destination: end, attest: true };
let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-attesting-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('a transfer', () => {
  it('is attested if the job requires it', async () => {
    expect(await attesting({ ...job, attest: false }, folder)).toEqual({});
    expect(await attesting({ ...job, policy: '{}' }, folder)).toEqual({ attest: { policy: '{}' } });
    expect(await attesting(job, '/nowhere')).toEqual({ attest: {} });
  });

  it('is signed if there is a key', async () => {
    const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
    await writeFile(path.join(folder, 'key.pem'), pem);
    expect((await attesting(job, folder)).attest?.key?.asymmetricKeyType).toBe('ed25519');
  });

  it('fails for an unusable key, without quoting it', async () => {
    await writeFile(path.join(folder, 'key.pem'), 'hunter22');
    const failure = expect.objectContaining({
      reason: 'config',
      message: expect.not.stringContaining('hunter22'),
    });
    await expect(attesting(job, folder)).rejects.toEqual(failure);
  });
});
