import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dockerCertificates } from './docker-certificates.ts';
import { makeJob } from './job.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-certs-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function write(host: string, files: Readonly<Record<string, string>>): Promise<void> {
  const place = path.join(folder, 'certs.d', host);
  await mkdir(place, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(place, name), text);
}
const of = (host: string) => dockerCertificates(host, { DOCKER_CONFIG: folder });

describe('the certificates of docker', () => {
  it('are none without a folder, and those of one host and port', async () => {
    expect(await of('r.io')).toEqual({});
    await write('r.io:5000', { 'ca.crt': 'A', 'client.cert': 'C', 'client.key': 'K' });
    expect(await of('r.io')).toEqual({});
    expect(await of('r.io:5000')).toEqual({ ca: 'A', certificate: 'C', key: 'K' });
  });

  it('are refused without their key', async () => {
    await write('r.io', { 'client.cert': 'C' });
    await expect(of('r.io')).rejects.toThrow('has only one of client.cert and client.key');
  });

  it('are offered to the registry, and to no other end of the job', async () => {
    await write('r.io', { 'ca.crt': 'A', 'client.cert': 'C', 'client.key': 'K' });
    const job = await makeJob('r.io/team/app:1.0', 'other.io/', {}, { DOCKER_CONFIG: folder });
    expect(job.source.tls).toEqual({ ca: 'A', certificate: 'C', key: 'K' });
    expect(job.destination.tls).toBeUndefined();
  });
});
