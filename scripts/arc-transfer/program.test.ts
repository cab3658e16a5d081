import { once } from 'node:events';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Registry, seedImage, startRegistry } from '#shared/local';
import { digestOf } from '#shared/transfer';
import { chartYaml, packChart, seedChart } from '../../shared/transfer/testing/charts.ts';
import { attach } from '../../shared/transfer/testing/signing.ts';
import { Sigstore } from '../../shared/transfer/testing/sigstore.ts';
import { startWebServer } from '../../shared/transfer/testing/web-server.ts';
import { version } from '../version/version.ts';
import { run } from './program.ts';

const account = { username: 'bob', password: 'hunter22-secret' };
let folder = '';
let source: Registry;
let destination: Registry;
let digest = '';

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-by-hand-'));
  source = await startRegistry(account);
  destination = await startRegistry();
  ({ digest } = await seedImage(source, 'team/app', '1.0'));
  const auth = Buffer.from(`${account.username}:${account.password}`).toString('base64');
  await writeFile(path.join(folder, 'config.json'), JSON.stringify({ auths: { [source.host]: { auth } } }));
});
afterEach(async () => {
  await Promise.all([source.close(), destination.close()]);
  await rm(folder, { recursive: true });
});

async function transfer(
  command: string,
  { isTTY = false, env = {}, input = '', signal = new AbortController().signal } = {},
) {
  let [stdout, stderr] = ['', ''];
  const exitCode = await run(
    command.replaceAll('SRC', source.host).replaceAll('DST', destination.host).split(' '),
    {
      stdout: { write: (text: string) => (stdout += text) },
      stderr: { isTTY, columns: 100, write: (text: string) => (stderr += text) },
      stdin: Readable.from([input]),
      env: { DOCKER_CONFIG: folder, TMPDIR: folder, ...env },
      signal,
    },
  );
  expect(stdout + stderr).not.toContain(account.password);
  return { exitCode, stdout, stderr };
}

describe('arc-transfer', () => {
  it('prints the version of the release', async () => {
    expect(await transfer('--version')).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('copies with the credentials of docker login, and prints the result in lines', async () => {
    const { exitCode, stdout, stderr } = await transfer('copy SRC/team/app:1.0 oci://DST/mirror/app:2.0');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^Copied .*: \d+ blobs copied \(.* KiB\), 0 were there, 1 signatures.*\nsha256:/);
    expect(stderr.trimEnd().split('\n').at(-1)).toMatch(/^100 % {2}.* of .*\/s$/);
    expect(destination.contents.get('mirror/app')?.tags.get('2.0')).toBe(digest);
  });

  it('keeps the name at a destination that ends with a slash, and draws a bar on a terminal', async () => {
    const { exitCode, stderr } = await transfer('copy SRC/team/app:1.0 DST/mirror/', { isTTY: true });
    expect(exitCode).toBe(0);
    expect(stderr).toContain(`[${'#'.repeat(30)}] 100 %`);
    expect(stderr.endsWith('\n')).toBe(true);
    expect(destination.contents.get('mirror/team/app')?.tags.get('1.0')).toBe(digest);
  });

  it('copies the selected tags, each under its own name', async () => {
    for (const tag of ['1.1', '2.0', 'x']) await seedImage(source, 'team/app', tag, { signature: false });
    const { exitCode, stdout } = await transfer('copy SRC/team/app DST/mirror/ --tag-semver <2 --newest 5');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(
      /^copied team\/app:1\.1 sha256:\w+\ncopied team\/app:1\.0 .*\nCopied 2 of 2 artifacts of .*; 0 were there\.\n$/,
    );
    expect([...(destination.contents.get('mirror/team/app')?.tags.keys() ?? [])].toSorted()).toEqual([
      '1.0',
      '1.1',
    ]);
    const again = await transfer('copy SRC/team/app DST/mirror/ --tag-match 1.* --json');
    expect(JSON.parse(again.stdout)).toMatchObject({ items: { total: 2, unchanged: 2 } });
  });

  it('copies a chart with its images', async () => {
    const values = `image: ${source.host}/team/app:1.0\nother: { image: quay.io/team/side:1 }\n`;
    const files = { 'Chart.yaml': chartYaml('demo', '1.2.3'), 'values.yaml': values };
    await seedChart(source, 'charts/demo', await packChart(files));
    const { exitCode, stderr } = await transfer(
      'copy SRC/charts/demo:1.2.3 DST/mirror/ --with-images --quiet',
    );
    expect(exitCode).toBe(12);
    expect(stderr).toMatch(
      /^Error: 2 of 3 artifacts were not moved\. quay\.io\/team\/side:1: Images are not pulled from registry quay\.io .* --image-registry quay\.io\./,
    );
    expect(destination.contents.get('mirror/team/app')?.tags.get('1.0')).toBe(digest);
  });

  it("uses docker's login for the registry of a chart's images, and says where to log in", async () => {
    const values = `image: ${source.host}/team/app:1.0\n`;
    const packed = await packChart({ 'Chart.yaml': chartYaml('demo', '1.2.3'), 'values.yaml': values });
    const index = 'entries: { demo: [{ name: demo, version: 1.2.3, urls: [demo.tgz] }] }\n';
    const web = await startWebServer();
    web.files.set('/index.yaml', { bytes: Buffer.from(index), mediaType: 'text/yaml' });
    web.files.set('/demo.tgz', { bytes: packed, mediaType: 'application/gzip' });
    const { host } = new URL(web.url);
    const copy = `copy helm+http://${host}/demo:1.2.3 DST/mirror/ --with-images --image-registry SRC`;
    const refused = await transfer(copy, { env: { DOCKER_CONFIG: '/nowhere' } });
    expect(refused.exitCode).toBe(13);
    expect(refused.stderr).toContain(`arc-transfer login ${source.host} -u NAME\n`);
    expect(await transfer(copy)).toMatchObject({ exitCode: 0 });
    await web.close();
    expect(destination.contents.get('mirror/team/app')?.tags.get('1.0')).toBe(digest);
  });

  it.each([
    ['copy SRC/team/app:1.0 DST/m/ --newest 3', /names a tag or a digest in addition to what is selected/],
    [
      'copy SRC/team/app DST/m/ --tag-match 9.*',
      /None of the 1 tags of team\/app in registry .* matches what is selected/,
    ],
    ['copy SRC/team/app DST/m/ --newest 0', /whole number from 1 to 9999/],
    ['copy SRC/team/app DST/m/ --tag-match * --dry-run', /A plan supports a single artifact/],
    ['copy https://SRC/a/file DST/m:1 --newest 3', /SRC must be a repository of a registry/],
    ['copy https://SRC/a/file DST/m:1 --with-images', /--with-images is for charts/],
  ])('refuses %s', async (command, message) => {
    const { exitCode, stderr } = await transfer(command);
    expect(exitCode).not.toBe(0);
    expect(stderr).toMatch(message);
  });

  it('prints only the result with --json', async () => {
    const { stdout, stderr } = await transfer('copy --json SRC/team/app:1.0 DST/app:1');
    expect(JSON.parse(stdout)).toMatchObject({ digest, referrers: 1, warnings: [] });
    expect(stderr).toBe('');
  });

  it.each(['plan', 'copy --dry-run'])(
    'moves nothing with %s, and prints what it would copy',
    async (plan) => {
      const first = await transfer(`${plan} SRC/team/app:1.0 DST/app:1`);
      expect(first.exitCode).toBe(0);
      expect(first.stdout).toMatch(
        /\nTo copy to .*: \d+ blobs and 4 manifests .*tag 1 does not exist\.\nsha256:/,
      );
      expect(destination.count('POST') + destination.count('PUT')).toBe(0);
      await transfer('copy SRC/team/app:1.0 DST/app:1');
      expect((await transfer(`${plan} SRC/team/app:1.0 DST/app:1`)).stdout).toContain('nothing to copy');
    },
  );

  it('verifies, down to a blob that a registry has lost', async () => {
    const verify = 'verify SRC/team/app:1.0 DST/app:1';
    expect(await transfer(verify)).toMatchObject({
      exitCode: 11,
      stderr: expect.stringContaining('tag 1 does not exist'),
    });
    await transfer('copy SRC/team/app:1.0 DST/app:1');
    expect(await transfer(verify)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('has all of'),
    });
    const blobs = destination.contents.get('app')?.blobs;
    blobs?.delete([...blobs.keys()][0] ?? '');
    expect(await transfer(verify)).toMatchObject({
      exitCode: 11,
      stderr: expect.stringContaining('1 blobs'),
    });
    const { exitCode, stdout } = await transfer(`${verify} --json`);
    expect({ exitCode, missing: JSON.parse(stdout).missing.blobs }).toEqual({ exitCode: 11, missing: 1 });
  });

  it('sends what DST has lost with --verify-destination, and reports it', async () => {
    const copy = 'copy SRC/team/app:1.0 DST/app:1';
    await transfer(copy);
    const stored = destination.contents.get('app');
    for (const blob of [...(stored?.blobs.keys() ?? [])].slice(0, 2)) stored?.blobs.delete(blob);
    expect((await transfer(copy)).stdout).not.toContain('Repaired');
    expect((await transfer(`${copy} --verify-destination`)).stdout).toMatch(
      /^Copied .*: 2 blobs copied .*\nRepaired: the destination had lost 2 blob\(s\) and 0 manifest\(s\) of it\.\nsha256:/,
    );
    expect((await transfer(`${copy} --verify-destination`)).stdout).not.toContain('Repaired');
  });

  it.each(['copy', 'plan', 'copy --dry-run'])('%s moves nothing that --policy denies', async (command) => {
    const file = path.join(folder, 'policy.json');
    await writeFile(file, JSON.stringify({ repositories: { allowed: ['docker.io/*'] } }));
    const denied = await transfer(`${command} SRC/team/app:1.0 DST/app:1 --policy ${file}`);
    expect(denied.exitCode).toBe(15);
    expect(denied.stderr).toMatch(
      /Error: Denied by policy, rule repositories\.allowed: .*\/team\/app matches none/,
    );
    expect(destination.count('POST') + destination.count('PUT')).toBe(0);
    await writeFile(file, JSON.stringify({ repositories: { allowed: ['*/team/*'] } }));
    const allowed = await transfer(`${command} SRC/team/app:1.0 DST/app:1 --policy ${file}`);
    expect(allowed.exitCode).toBe(0);
  });

  it('reads the reports of a scanner', async () => {
    const file = path.join(folder, 'policy.json');
    await writeFile(file, JSON.stringify({ vulnerabilities: { max: { critical: 0 } } }));
    const copy = `copy SRC/team/app:1.0 DST/app:1 --policy ${file} --reports`;
    await mkdir(path.join(folder, 'reports'));
    expect(await transfer(`${copy} ${folder}/reports`)).toMatchObject({
      exitCode: 15,
      stderr: expect.stringMatching(/rule vulnerabilities\.notScanned: image \S+ is not scanned/),
    });
    expect(await transfer(`${copy} ${folder}/none`)).toMatchObject({
      exitCode: 14,
      stderr: expect.stringMatching(/reports of the scanner cannot be read.*ENOENT/),
    });
  });

  it('verifies keyless signatures with --trusted-root', async () => {
    await seedImage(destination, 'team/app', '1.0');
    const sigstore = new Sigstore();
    const signature = sigstore.bundleLayer(digest, {
      identity: 'me@example.com',
      issuer: 'https://i.example.com',
    });
    await attach(destination, 'team/app', digest, 'referrer', [signature]);
    const [root, file] = [path.join(folder, 'root.json'), path.join(folder, 'policy.json')];
    await writeFile(root, sigstore.trustedRoot());
    const trustedRoot = digestOf(Buffer.from(sigstore.trustedRoot()));
    const signer = { identity: '*@example.com', issuer: 'https://i.example.com' };
    await writeFile(file, JSON.stringify({ requiredSigners: { anyOf: [signer], trustedRoot } }));
    const copy = `copy DST/team/app:1.0 DST/mirror/ --policy ${file}`;
    expect(await transfer(copy)).toMatchObject({
      exitCode: 14,
      stderr: expect.stringMatching(/no file is given.*--trusted-root/),
    });
    expect(await transfer(`${copy} --trusted-root ${root}`)).toMatchObject({ exitCode: 0 });
    expect(destination.contents.get('mirror/team/app')?.tags.get('1.0')).toBe(digest);
  });

  it('copies part of an index, and only an expected digest', async () => {
    const part = await transfer('copy --json SRC/team/app:1.0 DST/app:1 --platform linux/amd64');
    expect(JSON.parse(part.stdout).digest).not.toBe(digest);
    expect(await transfer(`copy SRC/team/app:1.0 DST/app:2 --digest ${digest}`)).toMatchObject({
      exitCode: 0,
    });
    expect(destination.contents.get('app')?.tags.get('2')).toBe(digest);
    const other = digest.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    expect(await transfer(`copy SRC/team/app:1.0 DST/app:3 --digest ${other}`)).toMatchObject({
      exitCode: 11,
    });
  });

  it.each([
    ['copy SRC/team/none:1 DST/app:1', 11, /does not exist in registry/],
    ['copy SRC DST/app:1', 14, /names no artifact/],
    ['copy SRC/team/app:1.0 Not/A:Place', 14, /does not start with a registry host/],
    ['copy SRC/team/app:1.0', 2, /missing required argument 'DST'/],
    ['move a b', 2, /unknown command 'move'/],
    ['copy SRC/team/app:1.0 DST/app:1 --policy none.json', 14, /Cannot read the policy of --policy/],
    [
      'copy SRC/team/app:1.0 DST/app:1 --policy package.json',
      14,
      /name is not known.* the file of --policy\.$/m,
    ],
    ['verify SRC/team/app:1.0 DST/app:1 --policy none.json', 2, /unknown option '--policy'/],
    ['copy SRC/team/app:1.0 DST/app:1 --ca none.pem', 14, /Cannot read the certificates of --ca/],
  ])('%s ends with %i', async (command, exitCode, message) => {
    const ended = await transfer(command);
    expect(ended).toMatchObject({ exitCode, stderr: expect.stringMatching(message) });
  });

  it('stores a file of a web server as an artifact', async () => {
    const server = createServer((_, response) => response.end('content')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const ended = await transfer(`copy http://127.0.0.1:${port}/dist/app.tgz DST/tools/app:1.0`);
    server.close();
    server.closeAllConnections();
    expect(ended).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Copied http://') });
    expect(destination.contents.get('tools/app')?.tags.size).toBe(1);
  });

  it.each(['oci', 'dav'])('plans, copies and verifies a single file (%s)', async (kind) => {
    const web = await startWebServer({ dav: true });
    const put = (name: string, text: string) =>
      web.files.set(name, { bytes: Buffer.from(text), mediaType: 'text/plain' });
    put('/dist/app.tgz', 'content');
    const ends = `${web.url}/dist/app.tgz ${kind === 'oci' ? 'DST/tools/app:1.0' : `${web.url.replace('http:', 'dav:')}/app.tgz`}`;
    const sha256 = digestOf(Buffer.from('content'));
    try {
      const told = `--digest ${sha256}`;
      expect((await transfer(`plan ${ends}`)).stdout).toMatch(/^To copy to .*: 7 bytes\.\n$/);
      expect(await transfer(`verify ${ends}`)).toMatchObject({
        exitCode: 11,
        stderr: expect.stringContaining(`(${sha256}): copy it again`),
      });
      expect([web.files.size, destination.count('PUT')]).toEqual([1, 0]);
      expect(await transfer(`copy ${ends}`)).toMatchObject({ exitCode: 0 });
      expect((await transfer(`plan ${ends} ${told}`)).stdout).toContain('(7 bytes): nothing to copy.');
      expect(await transfer(`verify ${ends}`)).toMatchObject({
        exitCode: 0,
        stdout: expect.stringContaining(sha256),
      });
      put('/dist/app.tgz', 'CONTENT');
      const { exitCode, stdout } = await transfer(`verify ${ends} --json`);
      expect([exitCode, JSON.parse(stdout).there]).toEqual([11, false]);
    } finally {
      await web.close();
    }
  });

  it('explains how to log in, without Kubernetes terms', async () => {
    const { exitCode, stderr } = await transfer('copy SRC/team/app:1.0 DST/app:1', {
      env: { DOCKER_CONFIG: '/nowhere' },
    });
    expect(exitCode).toBe(13);
    expect(stderr).toContain(`arc-transfer login ${source.host} -u NAME\n`);
    expect(stderr).not.toMatch(/Endpoint|Secret|HOST/);
  });

  it('lists tags as versions, and shows the parts of an artifact', async () => {
    for (const tag of ['1.10', '1.9']) await seedImage(source, 'team/app', tag, { signature: false });
    const { exitCode, stdout } = await transfer('tags SRC/team/app');
    expect([exitCode, stdout.split('\n').filter((tag) => tag.startsWith('1'))]).toEqual([
      0,
      ['1.0', '1.9', '1.10'],
    ]);
    const shown = await transfer('inspect SRC/team/app:1.0');
    expect(shown.stdout).toMatch(
      /^sha256:\w{64}\napplication\/vnd\.oci\.image\.index\S+, .*KiB\nlinux\/amd64 +sha256:\w+ .*\n(.*\n)*referrer \S+ sha256:/,
    );
    const whole = JSON.parse((await transfer('inspect SRC/team/app:1.0 --json')).stdout);
    expect(whole).toMatchObject({ digest, platforms: [{ platform: 'linux/amd64' }, {}], referrers: [{}] });
    expect(await transfer('inspect SRC/team/app:none')).toMatchObject({ exitCode: 11 });
    expect(await transfer('tags SRC/team/app:1.0')).toMatchObject({ exitCode: 14 });
    expect(await transfer('inspect https://SRC/file')).toMatchObject({ exitCode: 14 });
  });

  it('stores a login that other registry tools find, beside existing ones', async () => {
    const env = { DOCKER_CONFIG: path.join(folder, 'new', 'docker') };
    const login = `login SRC -u ${account.username} --password-stdin`;
    const kept = await transfer(login, { env, input: `${account.password}\n` });
    expect(kept).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('not tested') });
    expect((await stat(path.join(env.DOCKER_CONFIG, 'config.json'))).mode & 0o777).toBe(0o600);
    expect(
      await transfer('login other.localhost:1 -u eve --password-stdin', { env, input: 'x' }),
    ).toMatchObject({
      exitCode: 10,
      stderr: expect.stringContaining('nothing was stored'),
    });
    expect(await transfer('tags SRC/team/app', { env })).toMatchObject({ exitCode: 0 });
    expect(await transfer('login SRC/team -u eve --password-stdin', { input: 'x' })).toMatchObject({
      exitCode: 14,
    });
    expect(await transfer('login SRC -u eve')).toMatchObject({ exitCode: 14 });
  });

  it('prints its version', async () => {
    expect((await transfer('--version')).stdout).toMatch(/^\d+\.\d+\.\d+/);
  });

  it('ends with 130 when it is interrupted', async () => {
    expect(
      (await transfer('copy SRC/team/app:1.0 DST/app:1', { signal: AbortSignal.abort() })).exitCode,
    ).toBe(130);
  });

  it.each([['--help'], ['help'], ['copy --help']])('shows its help for %s', async (command) => {
    const { exitCode, stdout } = await transfer(command);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('Usage: arc-transfer');
  });
});
