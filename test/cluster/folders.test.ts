import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { JobEndpoint } from '#shared/domain';
import { moveJob } from '../../functions/transfer-worker/transfer-job.ts';
import { run as arcTransfer } from '../../scripts/arc-transfer/program.ts';
import { type StorageProcess, startStorageProcess, storageTools } from '../fixtures/image/storage-tools.ts';
import { startNginx } from '../fixtures/servers/nginx.ts';
import { packages, serverPrograms } from '../fixtures/servers/programs.ts';
import type { Server } from '../fixtures/servers/server.ts';

const programs = serverPrograms();
const storageFolder = storageTools();
if (!programs || !storageFolder)
  console.log(
    `skipped: folders need Debian's packages ${packages} and STORAGE_TOOLS (.ci/storage-tools/build.sh)`,
  );
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
const run = promisify(execFile);
const region = 'eu-west-3';
const dav = 'dav_methods PUT DELETE MKCOL MOVE; client_max_body_size 0; autoindex on;';
/** Two levels, and names that have to be escaped. */
const tree: Readonly<Record<string, string>> = {
  'a.txt': 'a',
  'b c+d%.txt': 'bcd',
  'deep/er/ü&.bin': 'deep',
  'deep/x.tgz': 'x',
  'empty.txt': '',
};

describe.skipIf(!programs || !storageFolder)('a folder', () => {
  const { nginx = '' } = programs ?? {};
  const stops: (() => Promise<unknown>)[] = [];
  let folder = '';
  let storage: StorageProcess;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'arc-folders-'));
    storage = await startStorageProcess(storageFolder ?? '', region);
  });
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  });
  afterAll(async () => {
    await storage?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function serverOf(settings: string): Promise<Server> {
    const server = await startNginx(nginx, settings);
    stops.push(server.stop);
    return server;
  }
  async function write(root: string, files: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(root, name)), { recursive: true });
      await writeFile(path.join(root, name), text);
    }
  }
  const http = ({ port }: Server, at = '', type = 'http'): JobEndpoint => ({
    name: type,
    type,
    remoteURL: `http://127.0.0.1:${port}/${at}`,
  });
  const s3 = (prefix: string): JobEndpoint => ({
    name: 's3',
    type: 's3',
    remoteURL: `${storage.url}/bucket/${prefix}`,
    credentials: { ...storage.keys, region },
  });
  const move = (source: JobEndpoint, destination: JobEndpoint, spec: object = {}) =>
    moveJob(
      { artifact: { type: 'file', spec: { path: '/', ...spec } }, source, destination },
      { signal: AbortSignal.timeout(60_000), workDir: folder, retry: { attempts: 2 } },
    );
  const same = async (a: string, b: string) => {
    const { stdout } = await run('diff', ['-r', a, b]);
    expect(stdout).toBe('');
  };
  const count = Object.keys(tree).length;

  it.each([
    ['HTML', 'autoindex on;'],
    ['JSON', 'autoindex on; autoindex_format json;'],
  ])(
    'of nginx with an index in %s arrives in S3 as it is, once, and goes on to a prefix',
    async (how, index) => {
      const web = await serverOf(index);
      const from = path.join(web.folder, 'data/pub lic');
      await write(from, tree);
      expect(await move(http(web), s3(how), { path: 'pub lic/', override: 'in/' })).toMatchObject({
        items: { total: count, copied: count, failed: 0 },
        warnings: [],
      });
      await same(from, path.join(storage.objects, how, 'in'));
      const again = await move(http(web, 'pub%20lic/'), s3(`${how}/in`));
      expect(again).toMatchObject({ items: { total: count, copied: 0 } });
      expect(await move(s3(how), s3(`${how}-2 +%25`), { path: 'in/', override: '/' })).toMatchObject({
        items: { total: count, copied: count },
      });
      await same(from, path.join(storage.objects, `${how}-2 +%`));
    },
  );

  it('of S3 arrives on WebDAV; what the source no longer has is deleted where that is wanted', async () => {
    const web = await serverOf(dav);
    const [from, to] = [path.join(storage.objects, 'dav'), path.join(web.folder, 'data/some/where')];
    await write(from, tree);
    await write(to, { 'old.txt': 'old', 'deep/old.tgz': 'old', 'deep/old.keep': 'old' });
    const spec = { override: 'some/where/', exclude: ['*.keep'] };
    const at = http(web, '', 'webdav');
    expect(await move(s3('dav'), at, spec)).toMatchObject({ items: { copied: count } });
    expect(await readFile(path.join(to, 'old.txt'), 'utf8')).toBe('old');
    const deleting = await move(s3('dav'), at, { ...spec, deletions: 'Delete' });
    expect(deleting).toMatchObject({ items: { total: count, deleted: 2 } });
    expect(await readFile(path.join(to, 'deep/old.keep'), 'utf8')).toBe('old');
    await rm(path.join(to, 'deep/old.keep'));
    await same(from, to);
  });

  it('has more objects than a page of the storage', async () => {
    const names = Array.from({ length: 603 }, (_, index) => [`n/${index}.txt`, String(index)] as const);
    await write(path.join(storage.objects, 'many'), Object.fromEntries(names));
    // What was written to the disk of the storage has no ETag, by which it is known again.
    expect(await move(s3('many'), s3('many-2'))).toMatchObject({ items: { total: 603, copied: 603 } });
    const few = { include: ['*7.txt'] };
    expect(await move(s3('many-2'), s3('many-3'), few)).toMatchObject({ items: { total: 60 } });
    const deleting = { ...few, include: ['17.txt'], deletions: 'Delete' };
    expect(await move(s3('many-2'), s3('many-3'), deleting)).toMatchObject({ items: { total: 1 } });
    await rm(path.join(storage.objects, 'many-2/n/7.txt'));
    const all = await move(s3('many-2'), s3('many-3'), { ...few, deletions: 'Delete' });
    expect(all).toMatchObject({ items: { total: 59, copied: 0, deleted: 1 } });
  });

  it('that cannot be listed, or has nothing, fails and deletes nothing', async () => {
    const web = await serverOf('');
    await write(path.join(web.folder, 'data'), { 'index.txt': 'x', 'a.txt': 'a' });
    await write(path.join(storage.objects, 'kept'), { 'a.txt': 'a' });
    const deleting = { deletions: 'Delete' };
    await expect(move(http(web), s3('kept'), deleting)).rejects.toThrow(/may not read it/);
    await expect(move(s3('nothing'), s3('kept'), deleting)).rejects.toThrow(/None of the 0 files/);
    await expect(move(s3('kept'), s3('kept'), { ...deleting, include: ['*.tgz'] })).rejects.toThrow(
      /None of the 1 files/,
    );
    expect(await readFile(path.join(storage.objects, 'kept/a.txt'), 'utf8')).toBe('a');
  });

  it('is copied by the command, and one of its files fails alone', async () => {
    const web = await serverOf('autoindex on; location = /pub/bad.txt { return 403; }');
    await write(path.join(web.folder, 'data/pub'), tree);
    let [stdout, stderr] = ['', ''];
    const transfer = async (...args: string[]) => {
      [stdout, stderr] = ['', ''];
      return arcTransfer(['copy', '--quiet', '--endpoint-url', storage.url, '--region', region, ...args], {
        stdout: { write: (text: string) => (stdout += text) },
        stderr: { write: (text: string) => (stderr += text) },
        env: {
          DOCKER_CONFIG: folder,
          TMPDIR: folder,
          AWS_ACCESS_KEY_ID: storage.keys.accessKeyID,
          AWS_SECRET_ACCESS_KEY: storage.keys.secretAccessKey,
        },
        signal: AbortSignal.timeout(60_000),
      });
    };
    const from = `http://127.0.0.1:${web.port}/pub/`;
    expect(await transfer(from, 's3://bucket/by hand/', '--include', '*.txt', '/deep/')).toBe(0);
    expect(stdout).toMatch(/Copied 5 of 5 artifacts/);
    await same(path.join(web.folder, 'data/pub'), path.join(storage.objects, 'by hand'));
    await rm(path.join(web.folder, 'data/pub/a.txt'));
    expect(await transfer(from, 's3://bucket/by hand/', '--delete')).toBe(0);
    expect(stdout).toMatch(/Deleted 1 that http/);
    await write(path.join(web.folder, 'data/pub'), { 'bad.txt': 'x', 'new.txt': 'new' });
    await rm(path.join(web.folder, 'data/pub/b c+d%.txt'));
    expect(await transfer(from, 's3://bucket/by hand/', '--delete')).toBe(12);
    expect(stderr).toMatch(/1 of 5 artifacts were not moved\. bad\.txt: /);
    const landed = (name: string) => readFile(path.join(storage.objects, 'by hand', name), 'utf8');
    expect([await landed('new.txt'), await landed('b c+d%.txt')]).toEqual(['new', 'bcd']);
    expect(await transfer(from, 'oci://h.io/x')).toBe(14);
    expect(stderr).toMatch(/is a folder, but DST .* is not/);
  });
});
