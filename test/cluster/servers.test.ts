import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Job, JobEndpoint } from '#shared/domain';
import { type Registry, seedImage, startRegistry } from '#shared/local';
import { type CopyOptions, digestOf } from '#shared/transfer';
import { moveJob } from '../../functions/transfer-worker/transfer-job.ts';
import { type Authority, createAuthority } from '../../shared/base/testing/authority.ts';
import { chartYaml, imageOfChart, packChart } from '../../shared/transfer/testing/charts.ts';
import { registryTools } from '../fixtures/image/registry-tools.ts';
import { startNginx } from '../fixtures/servers/nginx.ts';
import { packages, serverPrograms } from '../fixtures/servers/programs.ts';
import { type Server, startServer } from '../fixtures/servers/server.ts';
import { startSquid } from '../fixtures/servers/squid.ts';
import { startTokenServer } from '../fixtures/servers/token-server.ts';

const programs = serverPrograms();
if (!programs) console.log(`skipped: servers that people have need Debian's packages ${packages}`);
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const run = promisify(execFile);
const account = { username: 'mover', password: 'hunter22-secret' };
const mebibyte = 1024 * 1024;

describe.skipIf(!programs)('servers that people have', () => {
  const {
    nginx = '',
    squid = '',
    htpasswd = '',
    skopeo = '',
    registry: registryOfDebian = '',
  } = programs ?? {};
  const folders: string[] = [];
  const stops: (() => Promise<unknown>)[] = [];
  let authority: Authority;
  let pem: { cert: string; key: string };
  let passwords = '';
  let source: Registry;
  let image: { digest: string };
  let workDir = '';

  beforeAll(async () => {
    authority = await createAuthority('servers');
    pem = await authority.issue({ name: 'server' }, { hosts: ['127.0.0.1', '127.0.0.2'] });
    const { stdout } = await run(htpasswd, ['-nbB', account.username, account.password]);
    passwords = stdout.trim();
    source = await startRegistry();
    image = await seedImage(source, 'team/app', '1.0');
    workDir = await mkdtemp(path.join(os.tmpdir(), 'arc-servers-'));
    folders.push(workDir);
  });
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  });
  afterAll(async () => {
    await source?.close();
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  });

  const started = async (server: Promise<Server>): Promise<Server> => {
    const known = await server;
    stops.push(known.stop);
    return known;
  };
  const tls = () => ({ 'tls.pem': `${pem.cert}\n${pem.key}` });
  const https = ({ port }: Server, host = '127.0.0.1') => `https://${host}:${port}`;
  const move = (job: Job, options: Partial<CopyOptions> = {}) =>
    moveJob(job, { signal: AbortSignal.timeout(60_000), workDir, ...options });
  const end = (type: string, remoteURL: string, more: Partial<JobEndpoint> = {}): JobEndpoint => ({
    name: type,
    type,
    remoteURL,
    ...more,
  });
  const secured = () => ({ credentials: account, tls: { ca: authority.cert } });

  describe('nginx', () => {
    const basic = 'auth_basic "people"; auth_basic_user_file FOLDER/passwords;';

    it('gives a file by TLS and password, and takes it by WebDAV, in folders that are made', async () => {
      const bytes = randomBytes(3 * mebibyte);
      const dav = 'dav_methods PUT DELETE MKCOL MOVE; client_max_body_size 0;';
      const from = await started(startNginx(nginx, basic, { ...tls(), passwords }));
      const to = await started(startNginx(nginx, `${basic} ${dav}`, { ...tls(), passwords }));
      await writeFile(path.join(from.folder, 'data/tool.tgz'), bytes);
      const job = {
        artifact: { type: 'file', spec: { path: 'tool.tgz', override: 'deep/er/tool (1).tgz' } },
        source: end('http', https(from), secured()),
        destination: end('webdav', https(to), secured()),
      };
      expect(await move(job)).toMatchObject({ digest: digestOf(bytes), warnings: [] });
      expect(await readFile(path.join(to.folder, 'data/deep/er/tool (1).tgz'))).toEqual(bytes);
      const wrong = { ...job.source, credentials: { ...account, password: 'wrong-secret' } };
      await expect(move({ ...job, source: wrong })).rejects.toThrow(
        /^((?!wrong-secret).)*401((?!wrong-secret).)*$/,
      );
    });

    it('gives the rest of a file when its process was killed in the middle', async () => {
      const bytes = randomBytes(8 * mebibyte);
      const from = await started(startNginx(nginx, 'limit_rate 4m;', tls()));
      await writeFile(path.join(from.folder, 'data/large'), bytes);
      const [child] = (
        await readFile(`/proc/${from.program.child.pid}/task/${from.program.child.pid}/children`, 'utf8')
      ).split(' ');
      let killed = false;
      const progress = (done: number) => {
        if (killed || done < 2 * mebibyte) return;
        killed = true;
        process.kill(Number(child), 'SIGKILL');
      };
      const job = {
        artifact: { type: 'file', spec: { path: 'large', override: 'files/large:1' } },
        source: end('http', https(from), { tls: { ca: authority.cert } }),
        destination: end('oci', source.url),
      };
      const { digest } = (await move(job, { progress })) as { digest: string };
      expect(killed).toBe(true);
      expect(digest).toBe(digestOf(bytes));
      expect(await from.log()).toContain('" 206 ');
    });

    it('limits the rate with 429, and everything arrives', async () => {
      const from = await started(startNginx(nginx, 'limit_req zone=slow; limit_req_status 429;', tls()));
      const names = Array.from({ length: 4 }, (_, index) => `file-${index}`);
      for (const name of names) await writeFile(path.join(from.folder, 'data', name), name);
      const moved = await Promise.all(
        names.map((name) =>
          move({
            artifact: { type: 'file', spec: { path: name, override: `files/${name}:1` } },
            source: end('http', https(from), { tls: { ca: authority.cert } }),
            destination: end('oci', source.url),
          }),
        ),
      );
      expect(moved.map((result) => 'digest' in result && result.digest)).toEqual(
        names.map((name) => digestOf(Buffer.from(name))),
      );
      expect(await from.log()).toContain('" 429 ');
    });

    it('serves a Helm repository to who shows a client certificate', async () => {
      const clients = await createAuthority('clients');
      const asks = 'ssl_verify_client on; ssl_client_certificate FOLDER/clients.pem;';
      const from = await started(startNginx(nginx, asks, { ...tls(), 'clients.pem': clients.cert }));
      const chart = await packChart({ 'Chart.yaml': chartYaml('demo', '1.2.3'), 'values.yaml': 'a: 1\n' });
      await mkdir(path.join(from.folder, 'data/charts'));
      await writeFile(path.join(from.folder, 'data/charts/demo-1.2.3.tgz'), chart);
      const { cert: certificate, key } = await clients.issue({ name: 'mover' }, { use: 'client' });
      await writeFile(
        path.join(from.folder, 'data/index.yaml'),
        `apiVersion: v1\nentries:\n  demo:\n    - name: demo\n      version: 1.2.3\n      urls: [charts/demo-1.2.3.tgz]\n      digest: ${digestOf(chart).slice(7)}\n`,
      );
      const job = (own: object) => ({
        artifact: { type: 'helm', spec: { chart: 'demo', version: '^1', repo: 'charts' } },
        source: end('helm', https(from), { tls: { ca: authority.cert, ...own } }),
        destination: end('oci', source.url),
      });
      const { digest } = (await move(job({ certificate, key }))) as { digest: string };
      expect(digest).toBe((await imageOfChart(chart)).manifest.digest);
      await expect(move(job({}))).rejects.toThrow(/client certificate|400/);
    });
  });

  describe.each([
    ["Debian's registry 2.8", () => registryOfDebian],
    ['distribution 3', () => path.join(registryTools() ?? '', 'registry')],
  ])('%s by TLS', (_, command) => {
    it.each(['htpasswd', 'token'] as const)(
      'with %s: an image arrives as skopeo reads it, and goes on',
      async (how) => {
        const tokens = await startTokenServer(pem, `${account.username}:${account.password}`);
        stops.push(tokens.close);
        const auth = (folder: string) =>
          how === 'htpasswd'
            ? `{ htpasswd: { realm: people, path: ${folder}/passwords } }`
            : `{ token: { realm: '${tokens.url}', service: registry, issuer: issuer, rootcertbundle: ${folder}/ca.pem, signingalgorithms: [ES256] } }`;
        const to = await started(
          startServer({
            command: command(),
            args: (folder) => ['serve', `${folder}/config.yml`],
            files: (folder, port) => ({
              'tls.pem': pem.cert,
              'key.pem': pem.key,
              'ca.pem': authority.cert,
              'ca.crt': authority.cert,
              passwords,
              'config.yml': `version: 0.1
storage: { filesystem: { rootdirectory: '${folder}/data' } }
http: { addr: '127.0.0.1:${port}', secret: shared, tls: { certificate: ${folder}/tls.pem, key: ${folder}/key.pem } }
auth: ${auth(folder)}
`,
            }),
          }),
        );
        const tokenHosts = [new URL(tokens.url).host];
        const mirror = end('oci', https(to), { ...secured(), tokenHosts });
        const job = {
          artifact: { type: 'oci', spec: { image: 'team/app:1.0', override: 'mirror/app:1.0' } },
          source: end('oci', source.url),
          destination: mirror,
        };
        expect(await move(job)).toMatchObject({ digest: image.digest, referrers: 1 });
        expect(await move(job)).toMatchObject({ digest: image.digest, blobs: { copied: 0 } });
        const further = {
          artifact: { type: 'oci', spec: { image: 'mirror/app:1.0', override: 'further/app:1.0' } },
          source: mirror,
          destination: mirror,
        };
        const mounted = (await move(further)) as { blobs: { copied: number; mounted: number } };
        expect(mounted.blobs).toMatchObject({ copied: 0 });
        expect(mounted.blobs.mounted).toBeGreaterThan(0);
        const login = [`--creds=${account.username}:${account.password}`, `--cert-dir=${to.folder}`];
        const at = `docker://127.0.0.1:${to.port}/further/app:1.0`;
        // skopeo asks the token server by the same authority.
        const env = { ...process.env, SSL_CERT_FILE: `${to.folder}/ca.pem` };
        const { stdout } = await run(skopeo, ['inspect', '--raw', ...login, at], { env, encoding: 'buffer' });
        expect(digestOf(stdout)).toBe(image.digest);
        const layout = `oci:${workDir}/by-skopeo-${to.port}`;
        const copy = login.map((option) => option.replace('--', '--src-'));
        await run(skopeo, ['copy', '--all', '--insecure-policy', ...copy, at, layout], { env });
        expect(tokens.given() > 0).toBe(how === 'token');
      },
    );
  });

  describe('squid', () => {
    const behind = async (server: Server, password = account.password) => ({
      proxyEnv: { HTTPS_PROXY: `http://${account.username}:${password}@127.0.0.1:${server.port}` },
      retry: { attempts: 2 },
    });
    const direct = (registry: Server) => ({
      artifact: { type: 'file', spec: { path: 'tool', override: 'files/tool:1' } },
      // Loopback is never asked for by a proxy, but for other addresses than 127.0.0.1.
      source: end('http', https(registry, '127.0.0.2'), { tls: { ca: authority.cert } }),
      destination: end('oci', source.url),
    });
    const tool = async () => {
      const from = await started(startNginx(nginx, 'listen 127.0.0.2:PORT ssl;', tls()));
      await writeFile(path.join(from.folder, 'data/tool'), 'a tool');
      return from;
    };

    it('lets TLS through to who has an account, and is told nothing but the host', async () => {
      const proxy = await started(startSquid(squid, account.password));
      const from = await tool();
      expect(await move(direct(from), await behind(proxy))).toMatchObject({
        digest: digestOf(Buffer.from('a tool')),
      });
      expect(await proxy.log()).toMatch(new RegExp(`200 \\d+ CONNECT 127\\.0\\.0\\.2:${from.port} mover`));
      expect(await proxy.log()).not.toContain('/tool');
    });

    it.each([
      ['a wrong password', 'wrong-secret', '', /407|proxy/i],
      [
        'a host that it refuses',
        account.password,
        'acl refused dst 127.0.0.2\nhttp_access deny refused',
        /403|proxy/i,
      ],
    ])('is named in the message for %s, without a password', async (_, password, settings, words) => {
      const proxy = await started(startSquid(squid, account.password, settings));
      const failure = await move(direct(await tool()), await behind(proxy, password)).catch(
        (caught: unknown) => caught,
      );
      expect(failure).toMatchObject({ message: expect.stringMatching(words) });
      expect(String(failure)).not.toContain(password);
    });
  });
});
