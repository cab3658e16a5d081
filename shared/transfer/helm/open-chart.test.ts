import os from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { type Registry, seedImage, startRegistry } from '#shared/local';
import { copyArtifact } from '../artifact/copy-artifact.ts';
import { registrySink } from '../oci/registry-content.ts';
import type { Policy } from '../policy/policy.ts';
import { digestOf } from '../reference/digest.ts';
import { chartYaml, packChart } from '../testing/charts.ts';
import { transferFailure } from '../testing/transfer-failure.ts';
import { startWebServer, type WebServer, type WebServerOptions } from '../testing/web-server.ts';
import type { ChartLocation } from './chart-repository.ts';
import { openChart } from './open-chart.ts';

const running: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function web(options: WebServerOptions = {}): Promise<WebServer> {
  const server = await startWebServer(options);
  running.push(server);
  return server;
}

async function registry(): Promise<Registry> {
  const server = await startRegistry();
  running.push(server);
  return server;
}

const stored = (bytes: Buffer) => ({ bytes, mediaType: 'application/octet-stream' });
const account = { username: 'bob', password: 'hunter22-secret' };

interface Published {
  version: string;
  /** Of the archive, if not of the server with the index. */
  url?: string;
  digest?: string | null;
  yaml?: string;
}

/** Puts a repository with charts called demo below /charts. */
async function publish({ files }: WebServer, charts: Published[]): Promise<Buffer[]> {
  const archives: Buffer[] = [];
  const lines = ['apiVersion: v1', 'entries:', '  demo:'];
  for (const { version, url = `demo-${version}.tgz`, digest, yaml = chartYaml('demo', version) } of charts) {
    const tgz = await packChart({
      'Chart.yaml': yaml,
      'values.yaml': 'image: {repository: r.io/app, tag: 1}\n',
    });
    archives.push(tgz);
    files.set(`/charts/demo-${version}.tgz`, stored(tgz));
    lines.push('  - name: demo', `    version: ${version}`, '    urls:', `    - ${url}`);
    if (digest !== null) lines.push(`    digest: ${digest ?? digestOf(tgz).slice(7)}`);
  }
  files.set('/charts/index.yaml', stored(Buffer.from(lines.join('\n'))));
  return archives;
}

function copy(
  from: { url: string },
  to: Registry,
  location: Partial<ChartLocation> = {},
  policy: Policy = {},
) {
  const destination = `charts/demo`;
  return copyArtifact(
    {
      signal: new AbortController().signal,
      workDir: os.tmpdir(),
      retry: { attempts: 3, baseMs: 1, maxMs: 2 },
      policy,
    },
    async (context) => {
      const where = {
        name: 'src',
        remoteURL: `${from.url}/charts`,
        repo: undefined,
        chart: 'demo',
        version: undefined,
        indexed: true,
      };
      const { source, tag } = await openChart({ ...where, ...location }, context);
      const sink = context.session.repository(
        { name: 'dst', remoteURL: to.url, image: `${destination}:${tag}` },
        'pull,push',
      );
      return { source, destination: registrySink(sink) };
    },
  );
}

const tagsOf = (to: Registry) => [...(to.contents.get('charts/demo')?.tags ?? [])].map(([tag]) => tag);
const plain = { tls: { plainHTTP: true } };

describe('a chart of a repository with an index', () => {
  it('is identified to a policy by host and path of its repository, and the time of its files', async () => {
    const from = await web();
    const to = await registry();
    await publish(from, [{ version: '1.0.0' }]);
    const place = `${new URL(from.url).host}/charts/demo`;
    const allowed = { repositories: { allowed: [place] }, maxAgeMs: Number.MAX_SAFE_INTEGER };
    expect((await copy(from, to, {}, allowed)).warnings).toEqual([]);
    // The index is read below one slash, so the policy sees one as well.
    const doubled = { remoteURL: `${from.url}//charts/` };
    expect((await copy(from, to, doubled, allowed)).warnings).toEqual([]);
    const denied = copy(from, to, {}, { repositories: { denied: ['*/demo'] } });
    expect((await transferFailure(denied)).message).toContain(
      `repositories.denied: ${place} matches "*/demo"`,
    );
  });

  it('becomes the image that Helm would push, with an unchanged archive', async () => {
    const [from, to] = [await web(), await registry()];
    const [, tgz] = await publish(from, [
      { version: '1.0.0' },
      { version: '1.1.0+b' },
      { version: '2.0.0-rc.1' },
    ]);
    const result = await copy(from, to);
    expect(tagsOf(to)).toEqual(['1.1.0_b']);
    const content = to.contents.get('charts/demo');
    expect(content?.blobs.get(digestOf(tgz ?? Buffer.alloc(0)))?.equals(tgz ?? Buffer.alloc(0))).toBe(true);
    expect(result).toMatchObject({ mediaType: 'application/vnd.oci.image.manifest.v1+json', warnings: [] });
    expect(await copy(from, to)).toMatchObject({ digest: result.digest, bytes: { copied: 0 } });
  });

  it.each([
    ['~1.0', '1.0.5'],
    ['1.0.0', '1.0.0'],
    ['>=2.0.0-0', '2.0.0-rc.1'],
  ])('is the one that %s chooses', async (version, tag) => {
    const [from, to] = [await web(), await registry()];
    await publish(from, [
      { version: '1.0.0' },
      { version: '1.0.5' },
      { version: '1.1.0' },
      { version: '2.0.0-rc.1' },
    ]);
    await copy(from, to, { version });
    expect(tagsOf(to)).toEqual([tag]);
  });

  it('includes its provenance, and does not take a page for one', async () => {
    const [from, to] = [await web(), await registry()];
    await publish(from, [{ version: '1.0.0' }]);
    const without = await copy(from, to);
    const page = Buffer.from('<html>');
    from.files.set('/charts/demo-1.0.0.tgz.prov', stored(page));
    expect((await copy(from, to)).warnings).toEqual([
      expect.stringMatching(/something other than a signature/),
    ]);
    const prov = Buffer.from('-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n');
    from.files.set('/charts/demo-1.0.0.tgz.prov', stored(prov));
    const signed = await copy(from, to);
    expect(signed.digest).not.toBe(without.digest);
    expect(to.contents.get('charts/demo')?.blobs.get(digestOf(prov))?.equals(prov)).toBe(true);
  });

  it('is resumed after an interrupted connection', async () => {
    const [from, to] = [await web(), await registry()];
    await publish(from, [{ version: '1.0.0' }]);
    let broken = 0;
    from.fault = ({ path }) => (/\.tgz$/.test(path) && broken++ === 0 ? { cutAfter: 100 } : undefined);
    await copy(from, to);
    expect(tagsOf(to)).toEqual(['1.0.0']);
    expect(from.requests.map(({ headers }) => headers.range).filter(Boolean)).toEqual(['bytes=100-']);
  });

  it('is requested with credentials only at the server of the index, unless another host is trusted', async () => {
    const [elsewhere, to] = [await web(), await registry()];
    const from = await web({ account: `${account.username}:${account.password}` });
    await publish(elsewhere, [{ version: '1.0.0' }]);
    await publish(from, [{ version: '1.0.0', url: `${elsewhere.url}/charts/demo-1.0.0.tgz` }]);
    const unnamed = await transferFailure(copy(from, to, { credentials: account, ...plain }));
    expect(unnamed).toMatchObject({ reason: 'config', message: expect.stringContaining('private network') });
    expect(elsewhere.requests).toEqual([]);
    const named = (server: WebServer) => ({ redirectHosts: [new URL(server.url).host], ...plain });
    await copy(from, to, { credentials: account, ...named(elsewhere) });
    expect(elsewhere.requests.length).toBeGreaterThan(0);
    expect(elsewhere.requests.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
    expect(from.requests.some(({ headers }) => headers.authorization !== undefined)).toBe(true);

    const guarded = await web({ account: `${account.username}:${account.password}` });
    await publish(guarded, [{ version: '1.0.0' }]);
    await publish(from, [{ version: '1.0.0', url: `${guarded.url}/charts/demo-1.0.0.tgz` }]);
    const refused = await transferFailure(copy(from, to, { credentials: account, ...named(guarded) }));
    expect(refused).toMatchObject({ reason: 'auth' });
    expect(refused.message).not.toContain(account.password);
    const tokenHosts = [new URL(guarded.url).host];
    expect(await copy(from, to, { credentials: account, tokenHosts, ...plain })).toMatchObject({
      warnings: [],
    });
  });

  it("is requested with its server's entry of a docker config, if any", async () => {
    const [open, to] = [await web(), await registry()];
    const guarded = await web({ account: `${account.username}:${account.password}` });
    const auths = { [new URL(guarded.url).host]: account, 'quay.io': { username: 'a', password: 'b' } };
    const credentials = { dockerConfigJson: JSON.stringify({ auths }) };
    for (const from of [open, guarded]) {
      await publish(from, [{ version: '1.0.0' }]);
      await copy(from, to, { credentials, ...plain });
    }
    expect(open.requests.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
    expect(tagsOf(to)).toEqual(['1.0.0']);
  });

  it('follows redirects of its server, without credentials', async () => {
    const [from, store, to] = [await web({ account: 'bob:hunter22-secret' }), await web(), await registry()];
    await publish(from, [{ version: '1.0.0' }]);
    await publish(store, [{ version: '1.0.0' }]);
    const location = `${store.url}/charts/demo-1.0.0.tgz`;
    from.fault = ({ path }) => (path.endsWith('.tgz') ? { status: 302, headers: { location } } : undefined);
    const redirectHosts = [new URL(store.url).host];
    await copy(from, to, { credentials: account, redirectHosts, ...plain });
    expect(store.requests[0]?.headers.authorization).toBeUndefined();
    expect(tagsOf(to)).toEqual(['1.0.0']);
  });

  it('is not quoted if another server responds for the index', async () => {
    const [from, inner, to] = [await web(), await web(), await registry()];
    await publish(from, [{ version: '1.0.0' }]);
    inner.files.set('/admin', stored(Buffer.from('entries: [the-secret-of-the-house: {')));
    from.fault = () => ({ status: 302, headers: { location: `${inner.url}/admin` } });
    const redirectHosts = [new URL(inner.url).host];
    const failure = await transferFailure(copy(from, to, { redirectHosts, ...plain }));
    expect(inner.requests.length).toBeGreaterThan(0);
    expect(failure.message).toContain('redirected to another server');
    expect(failure.message).not.toContain('secret');
  });

  it.each<[string, Published, Partial<ChartLocation>, string, RegExp]>([
    [
      'has another digest than the index says',
      { version: '1.0.0', digest: 'ab'.repeat(32) },
      {},
      'permanent',
      /has digest sha256:.* instead of the expected/,
    ],
    [
      'is another chart',
      { version: '1.0.0', yaml: chartYaml('other', '1.0.0') },
      {},
      'permanent',
      /contains chart other 1\.0\.0/,
    ],
    [
      'is another version',
      { version: '1.0.0', yaml: chartYaml('demo', '1.0.1') },
      {},
      'permanent',
      /contains chart demo 1\.0\.1/,
    ],
    [
      'lies at a file',
      { version: '1.0.0', url: 'file:///etc/passwd' },
      {},
      'permanent',
      /its scheme is file/,
    ],
    [
      'lies in a registry',
      { version: '1.0.0', url: 'oci://r.io/demo:1.0.0' },
      {},
      'permanent',
      /use an Endpoint of type oci/,
    ],
    [
      'has credentials in its URL',
      { version: '1.0.0', url: 'http://a:b@h/x.tgz' },
      {},
      'permanent',
      /it contains credentials/,
    ],
    [
      'lies where clouds keep credentials',
      { version: '1.0.0', url: 'http://169.254.169.254/x.tgz' },
      {},
      'config',
      /in a private network/,
    ],
    [
      'is not in the index',
      { version: '1.0.0' },
      { chart: 'none' },
      'permanent',
      /Chart none is not in the index/,
    ],
    ['has no such version', { version: '1.0.0' }, { version: '^2' }, 'permanent', /it has 1\.0\.0/],
    [
      'is no archive',
      { version: '1.0.0', url: 'index.yaml', digest: null },
      {},
      'permanent',
      /not a gzipped tar/,
    ],
    ['does not exist', { version: '1.0.0', url: 'gone.tgz' }, {}, 'permanent', /does not exist/],
  ])('is not copied if it %s', async (_, chart, location, reason, message) => {
    const [from, to] = [await web(), await registry()];
    await publish(from, [chart]);
    const failure = await transferFailure(copy(from, to, location));
    expect(failure.message).toMatch(message);
    expect(failure.reason).toBe(reason);
    expect(to.contents.size).toBe(0);
  });
});

describe('a chart of a registry', () => {
  async function seeded(...versions: string[]): Promise<Registry> {
    const [from, between] = [await web(), await registry()];
    await publish(
      from,
      versions.map((version) => ({ version })),
    );
    for (const version of versions) await copy(from, between, { version });
    return between;
  }
  const inRegistry = ({ url }: Registry, version?: string): Partial<ChartLocation> => ({
    remoteURL: url,
    repo: 'charts',
    indexed: false,
    version,
  });

  it.each([
    [undefined, '1.10.0_b'],
    ['1.10.0+b', '1.10.0_b'],
    ['~1.2', '1.2.0'],
  ])('is copied as it is, in version %s', async (version, tag) => {
    const [from, to] = [await seeded('1.2.0', '1.10.0+b', '2.0.0-rc.1'), await registry()];
    const { digest } = await copy(from, to, inRegistry(from, version));
    expect([...(to.contents.get('charts/demo')?.tags ?? [])]).toEqual([[tag, digest]]);
    expect(from.contents.get('charts/demo')?.tags.get(tag)).toBe(digest);
  });

  it('lists its images', async () => {
    const from = await seeded('1.0.0');
    const found: string[] = [];
    const to = await registry();
    await copyArtifact({ signal: new AbortController().signal, workDir: os.tmpdir() }, async (context) => {
      const location = {
        name: 'src',
        chart: 'demo',
        ...inRegistry(from),
        remoteURL: from.url,
        repo: 'charts',
        version: undefined,
        indexed: false,
      };
      const { source, images } = await openChart(location, context);
      found.push(...(await images({})).images.map(({ written }) => written));
      const sink = context.session.repository({ name: 'dst', remoteURL: to.url, image: 'a:1' }, 'pull,push');
      return { source, destination: registrySink(sink) };
    });
    expect(found).toEqual(['r.io/app:1']);
  });

  it('is refused if it is no chart, or does not exist', async () => {
    const [from, to] = [await registry(), await registry()];
    await seedImage(from, 'charts/demo', '1.0.0');
    expect((await transferFailure(copy(from, to, inRegistry(from, '1.0.0')))).message).toMatch(
      /is not a Helm chart/,
    );
    const none = { ...inRegistry(from), repo: 'none' };
    expect((await transferFailure(copy(from, to, none))).message).toMatch(
      /chart none\/demo in registry .* has no version/,
    );
    expect((await transferFailure(copy(from, to, inRegistry(from, '^7')))).message).toMatch(/it has 1\.0\.0/);
  });
});
