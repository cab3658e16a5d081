import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Job, JobEndpoint } from '#shared/domain';
import { type Registry, seedImage, startRegistry } from '#shared/local';
import { createAuthority } from '../../../shared/base/testing/authority.ts';
import { chartYaml, packChart } from '../../../shared/transfer/testing/charts.ts';
import { startRegistryFront } from '../../../shared/transfer/testing/registry-front.ts';
import { type S3Server, startS3Server } from '../../../shared/transfer/testing/s3-server.ts';
import { startTlsFront, type TlsFront } from '../../../shared/transfer/testing/tls-front.ts';
import { startWebServer, type WebServer } from '../../../shared/transfer/testing/web-server.ts';
import { transferJob } from '../transfer-job.ts';

const servers = await createAuthority('servers');
const clients = await createAuthority('clients');
const others = await createAuthority('others');
const mover = await clients.issue({ name: 'mover' }, { use: 'client' });
const stranger = await others.issue({ name: 'stranger' }, { use: 'client' });
const shown = { ca: servers.cert, certificate: mover.cert, key: mover.key };

const stack: { close(): Promise<void> }[] = [];
function kept<T extends { close(): Promise<void> }>(server: T): T {
  stack.push(server);
  return server;
}
const front = async (behind: string) => kept(await startTlsFront(behind, servers, clients));

let folder = '';
let registry: Registry;
let fronted: TlsFront;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-mtls-'));
  registry = kept(await startRegistry());
  fronted = await front(registry.url);
});
afterEach(async () => {
  await Promise.all(stack.splice(0).map((server) => server.close()));
  await rm(folder, { recursive: true });
});

const end = (type: string, remoteURL: string, tls: JobEndpoint['tls'] = shown): JobEndpoint => ({
  name: type,
  type,
  remoteURL,
  tls: tls ?? {},
});
const move = (type: string, spec: Job['artifact']['spec'], source: JobEndpoint, destination: JobEndpoint) =>
  transferJob(
    { artifact: { type, spec }, source, destination },
    { signal: new AbortController().signal, workDir: folder, retry: { attempts: 1 } },
  );

describe('servers that require a client certificate', () => {
  it('serve and store images', async () => {
    const { digest } = await seedImage(registry, 'team/app', '1.0');
    const spec = { image: 'team/app:1.0', override: 'mirror/app' };
    const moved = await move('oci', spec, end('oci', fronted.url), end('oci', fronted.url));
    expect(moved.digest).toBe(digest);
    expect(new Set(fronted.clients)).toEqual(new Set(['mover']));
  });

  it('serve charts of an index', async () => {
    const web: WebServer = kept(await startWebServer());
    const { url } = await front(web.url);
    const tgz = await packChart({ 'Chart.yaml': chartYaml('demo', '1.2.3') });
    const index = `apiVersion: v1\nentries:\n  demo:\n    - {name: demo, version: 1.2.3, urls: [demo-1.2.3.tgz]}\n`;
    web.files.set('/index.yaml', { bytes: Buffer.from(index), mediaType: 'text/yaml' });
    web.files.set('/demo-1.2.3.tgz', { bytes: tgz, mediaType: 'application/gzip' });
    await move('helm', { chart: 'demo' }, end('helm', url), end('oci', fronted.url));
    expect([...registry.contents.keys()]).toContain('demo');
  });

  it('serve and store files', async () => {
    const web: WebServer = kept(await startWebServer());
    const storage: S3Server = kept(await startS3Server());
    web.files.set('/a.bin', { bytes: Buffer.from('hello'), mediaType: 'text/plain' });
    const source = end('http', (await front(web.url)).url);
    const destination = end('s3', `${(await front(storage.url)).url}/bucket`);
    await move('file', { path: 'a.bin' }, source, destination);
    expect(storage.objects.get('/bucket/a.bin')?.bytes.toString()).toBe('hello');
  });

  it('fail a job without one, or with that of another CA', async () => {
    await seedImage(registry, 'team/app', '1.0');
    const spec = { image: 'team/app:1.0', override: 'mirror/app' };
    for (const [own, why] of [
      [{}, 'it requires a client certificate'],
      [{ certificate: stranger.cert, key: stranger.key }, 'Endpoint "oci"'],
    ] as const) {
      const source = end('oci', fronted.url, { ca: servers.cert, ...own });
      const moved = move('oci', spec, source, end('oci', registry.url, {}));
      await expect(moved).rejects.toMatchObject({ message: expect.stringContaining(why) });
    }
    expect(fronted.clients).toEqual([]);
  });
});

it('the certificate is not offered to a server that a registry redirects to', async () => {
  const storage = kept(await startTlsFront(registry.url, servers));
  await seedImage(registry, 'team/app', '1.0');
  const redirecting = kept(await startRedirects(storage.url));
  const own = await front(redirecting.url);
  const spec = { image: 'team/app:1.0', override: 'mirror/app' };
  const source = { ...end('oci', own.url), redirectHosts: [new URL(storage.url).host] };
  await move('oci', spec, source, end('oci', fronted.url));
  expect(new Set(own.clients)).toEqual(new Set(['mover']));
  expect(storage.clients.length).toBeGreaterThan(0);
  expect(new Set(storage.clients)).toEqual(new Set(['']));
});

/** A registry whose blobs lie at another server. */
function startRedirects(storage: string) {
  return startRegistryFront(registry.url, ({ method, url }) =>
    method === 'GET' && url.includes('/blobs/')
      ? { answer: (response) => response.writeHead(307, { location: `${storage}${url}` }).end() }
      : undefined,
  );
}
