import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Job } from '#shared/domain';
import { seedImage, startRegistry } from '#shared/local';
import {
  type CopyOptions,
  copyFile,
  digestOf,
  type FileEnds,
  openS3Sink,
  openS3Source,
  openWebSource,
  type Session,
} from '#shared/transfer';
import { bundleJob } from '../../functions/transfer-worker/bundle/bundle-job.ts';
import { startWebServer, type WebServer } from '../../shared/transfer/testing/web-server.ts';
import { type StorageProcess, startStorageProcess, storageTools } from '../fixtures/image/storage-tools.ts';

const tools = storageTools();
if (!tools) console.log('skipped: files in S3 need STORAGE_TOOLS (.ci/storage-tools/build.sh)');

const mebibyte = 1024 * 1024;
const small = Buffer.from('a small file');
/** Three parts. */
const large = Buffer.alloc(20 * mebibyte, 'bytes that are not all the same');

describe.skipIf(!tools)('files in a real S3 storage', () => {
  let storage: StorageProcess;
  let web: WebServer;
  beforeAll(async () => {
    // Not the region that a client takes where nobody names one.
    storage = await startStorageProcess(tools ?? '', 'eu-west-3');
    web = await startWebServer();
    for (const [name, bytes] of Object.entries({ small, large }))
      web.files.set(`/${name}`, { bytes, mediaType: 'application/gzip' });
  });
  afterAll(() => Promise.all([storage?.stop(), web?.close()]));

  const place = (file: string, keys = storage.keys) => ({
    name: 'storage',
    remoteURL: `${storage.url}/bucket/pre`,
    path: file,
    credentials: keys,
  });
  const fromWeb = (file: string) => (session: Session) =>
    openWebSource({ name: 'web', remoteURL: web.url, path: file }, session);
  function copy(
    source: (session: Session) => FileEnds['source'],
    to: string,
    options: Partial<CopyOptions> = {},
  ) {
    const { signal } = new AbortController();
    const ends = (session: Session) => ({
      source: source(session),
      destination: openS3Sink(place(to), session),
      name: to,
    });
    return copyFile({ signal, workDir: os.tmpdir(), ...options }, async ({ session }) => ends(session));
  }
  const stored = (file: string) => readFile(path.join(storage.objects, 'pre', file));

  it.each([
    ['small', small, "s m+all (1)!*'ü.txt"],
    ['large', large, 'sub/large.bin'],
  ])('a %s one arrives, once, whatever its name', async (name, bytes, to) => {
    const digest = digestOf(bytes);
    expect(await copy(fromWeb(name), to)).toMatchObject({
      digest,
      bytes: { copied: bytes.length },
      warnings: [],
    });
    expect((await stored(to)).equals(bytes)).toBe(true);
    expect(await copy(fromWeb(name), to)).toMatchObject({ digest, bytes: { existed: bytes.length } });
    const within = await copy((session) => openS3Source(place(to), session), `${to}-2`);
    expect(within).toMatchObject({ digest, bytes: { mounted: bytes.length } });
    expect((await stored(`${to}-2`)).equals(bytes)).toBe(true);
  });

  it('one that was stopped half-way is not there, and goes on with its parts', async () => {
    const stop = new AbortController();
    const progress = (done: number, total: number) => {
      if (done > 0.9 * total) stop.abort();
    };
    await expect(
      copy(fromWeb('large'), 'stopped.bin', { signal: stop.signal, progress }),
    ).rejects.toMatchObject({
      reason: 'retryable',
    });
    expect(await readdir(path.join(storage.objects, 'pre'))).not.toContain('stopped.bin');
    expect(await copy(fromWeb('large'), 'stopped.bin')).toMatchObject({ digest: digestOf(large) });
    expect((await stored('stopped.bin')).equals(large)).toBe(true);
  });

  it('a signed bundle goes through it, in parts', async () => {
    const registry = await startRegistry({});
    const bundleDir = await mkdtemp(path.join(os.tmpdir(), 'arc-bundles-'));
    try {
      const { digest } = await seedImage(registry, 'team/app', '1.0', { layerBytes: 6 * mebibyte });
      const pair = generateKeyPairSync('ed25519');
      const keys = {
        sign: String(pair.privateKey.export({ format: 'pem', type: 'pkcs8' })),
        trust: String(pair.publicKey.export({ format: 'pem', type: 'spki' })),
      };
      const medium = {
        name: 'medium',
        type: 'bundle',
        remoteURL: `${storage.url}/bucket/bundles`,
        keys,
        credentials: storage.keys,
      };
      const oci = { name: 'registry', type: 'oci', remoteURL: registry.url };
      const run = (job: Job) =>
        bundleJob(job)?.({ signal: new AbortController().signal, workDir: os.tmpdir(), bundleDir });
      const spec = { name: 'first', contents: [{ image: 'team/app:1.0' }], partSize: '9MB' };
      await run({ artifact: { type: 'bundle-export', spec }, source: oci, destination: medium });
      const names = await readdir(path.join(storage.objects, 'bundles'));
      expect(names.filter((name) => /^first\.tar\.\d+$/.test(name)).length).toBeGreaterThan(1);
      const mirror = { ...oci, remoteURL: `${registry.url}/mirror` };
      const artifact = { type: 'bundle-import', spec: { name: 'first' } };
      await run({ artifact, source: medium, destination: mirror });
      expect(registry.contents.get('mirror/team/app')?.tags.get('1.0')).toBe(digest);
    } finally {
      await registry.close();
      await rm(bundleDir, { recursive: true });
    }
  });

  it('with other keys is refused, and the reason is named', async () => {
    const wrong = { ...storage.keys, secretAccessKey: 'another-secret' };
    const refused = copy((session) => openS3Source(place('any', wrong), session), 'x');
    await expect(refused).rejects.toMatchObject({
      reason: 'auth',
      message: expect.stringContaining('SignatureDoesNotMatch'),
    });
  });
});
