import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Certificate } from '#shared/apiserver';
import type { ArcError } from '#shared/errors';
import { eventually } from '../../test/fixtures/eventually.ts';
import { followCertificate, readCertificate } from './certificate-files.ts';

let folder: string;
let certFile: string;
let keyFile: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-certificate-'));
  certFile = path.join(folder, 'tls.crt');
  keyFile = path.join(folder, 'tls.key');
  await writeFile(certFile, 'cert 1');
  await writeFile(keyFile, 'key 1');
});
afterEach(() => rm(folder, { recursive: true }));

describe('followCertificate', () => {
  it('tells of changes, tries again what was refused, and ends with its signal', async () => {
    const control = new AbortController();
    const told: Certificate[] = [];
    const failures: ArcError[] = [];
    const done = followCertificate({
      certFile,
      keyFile,
      current: await readCertificate(certFile, keyFile),
      everyMs: 5,
      signal: control.signal,
      onFailure: (error) => failures.push(error),
      onChange: (certificate) => {
        if (certificate.key === 'key 1') throw new Error('does not fit');
        told.push(certificate);
      },
    });
    await writeFile(certFile, 'cert 2');
    await eventually('half of the pair to be refused', 5_000, () => expect(failures).not.toHaveLength(0));
    await writeFile(keyFile, 'key 2');
    await eventually('the new pair', 5_000, () => expect(told).toEqual([{ cert: 'cert 2', key: 'key 2' }]));
    control.abort();
    await done;
  });

  it('names the file that is empty: it is just being written', async () => {
    await writeFile(keyFile, '');
    await expect(readCertificate(certFile, keyFile)).rejects.toThrow(`${keyFile} is empty`);
  });

  it('names the file that cannot be read', async () => {
    await rm(keyFile);
    await expect(readCertificate(certFile, keyFile)).rejects.toThrow(keyFile);
  });
});
