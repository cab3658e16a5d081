import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Registry, seedImage, startRegistry } from '#shared/local';
import { moveJob } from '../../functions/transfer-worker/transfer-job.ts';
import { run as arcTransfer } from '../../scripts/arc-transfer/program.ts';
import { type Authority, createAuthority } from '../../shared/base/testing/authority.ts';
import { type StorageProcess, startStorageProcess, storageTools } from '../fixtures/image/storage-tools.ts';
import { startNginx } from '../fixtures/servers/nginx.ts';
import { packages, serverPrograms } from '../fixtures/servers/programs.ts';
import { type Server, startServer } from '../fixtures/servers/server.ts';

const programs = serverPrograms();
if (!programs) console.log(`skipped: places on servers that people have need Debian's packages ${packages}`);
const storageFolder = storageTools();
if (!storageFolder) console.log('skipped: places in S3 need STORAGE_TOOLS (.ci/storage-tools/build.sh)');
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
const run = promisify(execFile);
const dav = 'dav_methods PUT DELETE MKCOL MOVE; client_max_body_size 0;';

describe.skipIf(!programs)('a place', () => {
  const { nginx = '', skopeo = '', registry: registryOfDebian = '' } = programs ?? {};
  const stops: (() => Promise<unknown>)[] = [];
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'arc-places-'));
  });
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const started = async (server: Promise<Server>): Promise<Server> => {
    const known = await server;
    stops.push(known.stop);
    return known;
  };

  /** Runs arc-transfer; fails with what it says. */
  async function transfer(args: string[], env: Record<string, string> = {}): Promise<string> {
    let [stdout, stderr] = ['', ''];
    const exitCode = await arcTransfer(args, {
      stdout: { write: (text: string) => (stdout += text) },
      stderr: { write: (text: string) => (stderr += text) },
      env: { DOCKER_CONFIG: folder, TMPDIR: folder, ...env },
      signal: AbortSignal.timeout(60_000),
    });
    if (exitCode !== 0) throw new Error(`${exitCode}: ${stderr}`);
    return stdout;
  }

  describe('on a web server', () => {
    it.each([
      ['a%20b.txt', 'a b.txt'],
      ['a b.txt', 'a b.txt'],
      ['a+b%2Bc.txt', 'a+b+c.txt'],
      ['100%.txt', '100%.txt'],
      ['100%25.txt', '100%.txt'],
      ['%C3%BC.txt', 'ü.txt'],
    ])('%s is the file %s, as curl reads it', async (written, name) => {
      const server = await started(startNginx(nginx, dav));
      const url = `http://127.0.0.1:${server.port}`;
      await mkdir(path.join(server.folder, 'data/some where'));
      await writeFile(path.join(server.folder, 'data/some where', name), name);
      const escaped = written.replaceAll(' ', '%20').replace(/%(?![0-9A-F]{2})/, '%25');
      expect((await run('curl', ['-sf', `${url}/some%20where/${escaped}`])).stdout).toBe(name);
      await transfer([
        'copy',
        `${url}/some%20where/${written}`,
        `dav://127.0.0.1:${server.port}/copied%20to/`,
      ]);
      expect(await readFile(path.join(server.folder, 'data/copied to', name), 'utf8')).toBe(name);
    });

    it('of type webdav is made with the folder of its Endpoint', async () => {
      const server = await started(startNginx(nginx, dav));
      await writeFile(path.join(server.folder, 'data/tool'), 'a tool');
      const remoteURL = `http://127.0.0.1:${server.port}`;
      const job = {
        artifact: { type: 'file', spec: { path: 'tool', override: 'v1/tool' } },
        source: { name: 'from', type: 'http', remoteURL },
        destination: { name: 'to', type: 'webdav', remoteURL: `${remoteURL}/no/such/folder` },
      };
      const { signal } = new AbortController();
      expect(await moveJob(job, { signal, workDir: folder })).toMatchObject({ warnings: [] });
      expect(await readFile(path.join(server.folder, 'data/no/such/folder/v1/tool'), 'utf8')).toBe('a tool');
    });
  });

  describe.skipIf(!storageFolder)('in S3', () => {
    const region = 'eu-west-3';
    let storage: StorageProcess;
    beforeAll(async () => {
      storage = await startStorageProcess(storageFolder ?? '', region);
      await writeFile(path.join(storage.objects, 'tool'), 'a tool');
    });
    afterAll(() => storage?.stop());
    const keys = () => ({
      AWS_ACCESS_KEY_ID: storage.keys.accessKeyID,
      AWS_SECRET_ACCESS_KEY: storage.keys.secretAccessKey,
    });

    it.each(['a+b', 'a b', '100%', 'a%20b', "a (1)*'ü"])(
      'has the prefix "%s" on the command line',
      async (prefix) => {
        const at = ['--endpoint-url', storage.url, '--region', region];
        await transfer(['copy', 's3://bucket/tool', `s3://bucket/${prefix}/`, ...at], keys());
        expect(await readFile(path.join(storage.objects, prefix, 'tool'), 'utf8')).toBe('a tool');
        await transfer(['copy', `s3://bucket/${prefix}/tool`, `s3://bucket/${prefix}/again`, ...at], keys());
        expect((await stat(path.join(storage.objects, prefix, 'again'))).size).toBe(6);
      },
    );

    it('is where the variables of AWS say', async () => {
      const env = { ...keys(), AWS_ENDPOINT_URL_S3: `${storage.url}/`, AWS_DEFAULT_REGION: region };
      await transfer(['copy', 's3://bucket/tool', 's3://bucket/by-variables'], env);
      expect((await stat(path.join(storage.objects, 'by-variables'))).size).toBe(6);
    });

    it.each([
      ['a+b', 'a+b'],
      ['a b', 'a b'],
      ['a%20b', 'a b'],
      ['100%', '100%'],
      ['100%25', '100%'],
      ['a%2Bb', 'a+b'],
    ])('has the prefix of the Endpoint "%s" as "%s"', async (written, prefix) => {
      const endpoint = (remoteURL: string) => ({
        name: 's3',
        type: 's3',
        remoteURL,
        credentials: storage.keys,
      });
      const job = {
        artifact: { type: 'file', spec: { path: 'tool', override: 'by-endpoint' } },
        source: endpoint(`${storage.url}/bucket`),
        destination: endpoint(`${storage.url}/bucket/${written}`),
      };
      await moveJob(job, { signal: AbortSignal.timeout(60_000), workDir: folder });
      expect(await readFile(path.join(storage.objects, prefix, 'by-endpoint'), 'utf8')).toBe('a tool');
    });
  });

  describe('in a registry of this machine that speaks TLS', () => {
    let authority: Authority;
    let source: Registry;
    let digest = '';
    beforeAll(async () => {
      authority = await createAuthority('places');
      source = await startRegistry();
      ({ digest } = await seedImage(source, 'team/app', '1.0'));
      await writeFile(path.join(folder, 'ca.pem'), authority.cert);
    });
    afterAll(() => source?.close());
    const secureRegistry = async () => {
      const pem = await authority.issue({ name: 'server' }, { hosts: ['127.0.0.1', 'localhost'] });
      return started(
        startServer({
          command: registryOfDebian,
          args: (own) => ['serve', `${own}/config.yml`],
          files: (own, port) => ({
            'tls.pem': pem.cert,
            'key.pem': pem.key,
            'config.yml': `version: 0.1
storage: { filesystem: { rootdirectory: '${own}/data' } }
http: { addr: '127.0.0.1:${port}', tls: { certificate: ${own}/tls.pem, key: ${own}/key.pem } }
`,
          }),
        }),
      );
    };

    it.each(['oci+https://127.0.0.1', '127.0.0.1', 'oci://localhost', 'docker://127.0.0.1'])(
      'is %s, and skopeo finds the image there',
      async (place) => {
        const { port } = await secureRegistry();
        await transfer([
          'copy',
          `${source.host}/team/app:1.0`,
          `${place}:${port}/m/`,
          '--ca',
          `${folder}/ca.pem`,
        ]);
        const at = `docker://127.0.0.1:${port}/m/team/app:1.0`;
        const { stdout } = await run(skopeo, [
          'inspect',
          '--tls-verify=false',
          '--format',
          '{{.Digest}}',
          at,
        ]);
        expect(stdout.trim()).toBe(digest);
      },
    );

    it('has its certificate checked', async () => {
      const { port } = await secureRegistry();
      await expect(transfer(['copy', `${source.host}/team/app:1.0`, `127.0.0.1:${port}/m/`])).rejects.toThrow(
        /14: .*certificate is not trusted/,
      );
    });
  });
});
