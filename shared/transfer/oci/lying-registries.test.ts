import { mkdtemp, rm } from 'node:fs/promises';
import http, { type IncomingMessage } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Registry, seedImage, startRegistry } from '../../local/registry/index.ts';
import { type CopyRequest, copyImage } from '../testing/copy-image.ts';
import { listen, passOn } from '../testing/front.ts';
import { type Meddling, type RegistryFront, startRegistryFront } from '../testing/registry-front.ts';
import { transferFailure } from '../testing/transfer-failure.ts';

const credentials = { username: 'bob', password: 'hunter22-secret' };
let workDir = '';
let registry: Registry;
let root = '';
const running: { close(): Promise<void> }[] = [];

beforeEach(async () => {
  workDir = await mkdtemp(path.join(os.tmpdir(), 'arc-lying-'));
  registry = await startRegistry();
  const seeded = await seedImage(registry, 'team/app', '1.0', { platforms: ['linux/amd64'], layers: 1 });
  root = seeded.digest;
});
afterEach(async () => {
  await Promise.all([registry.close(), ...running.splice(0).map((server) => server.close())]);
  await rm(workDir, { recursive: true });
});

type Request = IncomingMessage & { method: string; url: string };

/** A registry that lies where `meddle` says so. */
async function lying(meddle: (request: Request) => Meddling): Promise<RegistryFront> {
  const front = await startRegistryFront(registry.url, meddle);
  running.push(front);
  return front;
}

const secretPage = JSON.stringify({
  schemaVersion: 2,
  mediaType: 'the-secret-of-the-house',
  errors: [{ code: 'SECRET', message: 'the-secret-of-the-house' }],
  token: 'the-secret-of-the-house',
});

/** A server that no Endpoint names. It answers everything, and remembers what it was asked. */
async function innerServer(status = 200) {
  const asked: { method: string; url: string; authorization: string | undefined }[] = [];
  const server = http.createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    asked.push({ method, url, authorization: headers.authorization });
    request.resume();
    const type = { 'content-type': 'application/vnd.oci.image.manifest.v1+json', location: '/x' };
    response.writeHead(status, type).end(secretPage);
  });
  const { port, close } = await listen(server);
  running.push({ close });
  return { url: `http://127.0.0.1:${port}`, host: `127.0.0.1:${port}`, asked };
}

function copy(
  { from = registry.url, to = registry.url, named = [] }: { from?: string; to?: string; named?: string[] },
  more: Partial<CopyRequest> = {},
) {
  const redirectHosts = named;
  return copyImage({
    source: { name: 'src', remoteURL: from, image: 'team/app:1.0', credentials, redirectHosts },
    destination: { name: 'dst', remoteURL: to, image: 'mirror/app:1.0', credentials, redirectHosts },
    signal: new AbortController().signal,
    workDir,
    retry: { attempts: 2, baseMs: 2, maxMs: 5 },
    ...more,
  });
}

const to = (location: string, status = 307): Meddling => ({
  answer: (response) => response.writeHead(status, { location, 'content-length': 0 }).end(),
});
const isManifest = ({ url }: Request) => url.includes('/manifests/');
const isUpload = ({ method, url }: Request) => method === 'POST' && url.includes('/blobs/uploads/');

describe('content is not sent to another server', () => {
  it.each(['/api/v1/restore', '/api/v1/restore?_state=abc'])(
    'in the Location of an upload: %s',
    async (place) => {
      const inner = await innerServer(201);
      const liar = await lying((request) => (isUpload(request) ? to(inner.url + place, 202) : undefined));
      const failure = await transferFailure(copy({ to: liar.url }));
      expect(failure).toMatchObject({
        reason: 'config',
        message: expect.stringMatching(/which was not contacted: .*spec\.redirectHosts/),
      });
      expect(failure.message).toContain(inner.url);
      expect(inner.asked).toEqual([]);
    },
  );

  it.each(['POST', 'PUT'])('to which a %s is redirected', async (wanted) => {
    const inner = await innerServer(201);
    const liar = await lying(({ method, url }) => (method === wanted ? to(inner.url + url) : undefined));
    const failure = await transferFailure(copy({ to: liar.url }));
    expect(failure.message).toContain(`it redirects to ${inner.url}, which is not followed`);
    expect(inner.asked).toEqual([]);
  });

  it('and the offset of an upload is not requested from it', async () => {
    const inner = await innerServer();
    let puts = 0;
    const liar = await lying(({ method, socket, url }) => {
      if (method !== 'PUT' || !url.includes('/uploads/') || puts++ > 0)
        return method === 'GET' && url.includes('/uploads/') ? to(inner.url) : undefined;
      return { answer: () => socket.destroy() };
    });
    expect((await copy({ to: liar.url }, { retry: { attempts: 4, baseMs: 2, maxMs: 5 } })).digest).toBe(root);
    expect(inner.asked).toEqual([]);
  });

  it('unless the Endpoint lists it, and then without the credentials', async () => {
    const store = await lying(() => undefined);
    const liar = await lying((request) =>
      isUpload(request)
        ? {
            change: (headers) => {
              headers.location = `${store.url}${new URL(headers.location ?? '', registry.url).pathname}`;
            },
          }
        : undefined,
    );
    expect((await copy({ to: liar.url, named: [new URL(store.url).host] })).digest).toBe(root);
    expect(store.requests.map(({ method }) => method)).toContain('PUT');
    expect(store.requests.every(({ authorization }) => authorization === undefined)).toBe(true);
  });
});

describe('a server in a private network to which only a registry refers', () => {
  it.each(['GET', 'HEAD'])('is not contacted when a %s is redirected', async (wanted) => {
    const inner = await innerServer();
    const liar = await lying((request) =>
      request.method === wanted && isManifest(request) ? to(inner.url + request.url) : undefined,
    );
    const failure = await transferFailure(copy(wanted === 'GET' ? { from: liar.url } : { to: liar.url }));
    expect(failure.message).toContain(`it redirects to ${inner.url}, which is not followed`);
    expect(failure.message).toContain(`list ${inner.host} in spec.redirectHosts`);
    expect(inner.asked).toEqual([]);
  });

  it('is not contacted by a name that resolves to it', async () => {
    const inner = await innerServer();
    const { port } = new URL(inner.url);
    const liar = await lying((request) =>
      isManifest(request) ? to(`http://localhost:${port}/admin`) : undefined,
    );
    const failure = await transferFailure(copy({ from: liar.url }));
    expect(failure).toMatchObject({
      reason: 'config',
      message: expect.stringContaining('localhost is in a private network'),
    });
    expect(failure.message).not.toMatch(/is at 127|::1/);
    expect(inner.asked).toEqual([]);
  });

  it.each([{}, { credentials: undefined }])('is not contacted for a token: %j', async (more) => {
    const inner = await innerServer();
    const liar = await lying(() => ({
      answer: (response) =>
        response.writeHead(401, { 'www-authenticate': `Bearer realm="${inner.url}/admin"` }).end(),
    }));
    const source = {
      name: 'src',
      remoteURL: liar.url,
      image: 'team/app:1.0',
      ...('credentials' in more ? {} : { credentials }),
    };
    const failure = await transferFailure(copy({}, { source }));
    expect(failure.message).toMatch(/spec\.(tokenHosts|redirectHosts)/);
    expect(inner.asked).toEqual([]);
  });
});

describe('the response of another server is not quoted', () => {
  it.each([200, 403, 404, 500])('although the Endpoint lists it: %i for a manifest', async (status) => {
    const inner = await innerServer(status);
    const liar = await lying((request) => (isManifest(request) ? to(inner.url + request.url) : undefined));
    const failure = await transferFailure(copy({ from: liar.url, named: [inner.host] }));
    expect(inner.asked.length).toBeGreaterThan(0);
    expect(inner.asked.every(({ authorization }) => authorization === undefined)).toBe(true);
    expect(failure.message).not.toContain('secret');
  });

  it('although it is the token service that the Endpoint lists', async () => {
    const inner = await innerServer(403);
    const liar = await lying(() => ({
      answer: (response) =>
        response.writeHead(401, { 'www-authenticate': `Bearer realm="${inner.url}/token"` }).end(),
    }));
    const tokenHosts = ['127.0.0.1'];
    const source = { name: 'src', remoteURL: liar.url, image: 'team/app:1.0', credentials, tokenHosts };
    const failure = await transferFailure(copy({}, { source }));
    expect(inner.asked.length).toBeGreaterThan(0);
    expect(failure.message).not.toContain('secret-of-the-house');
  });

  it('but the response of the registry itself is', async () => {
    const text = JSON.stringify({ errors: [{ code: 'DENIED', message: 'ask the team of the house' }] });
    const honest = await lying((request) =>
      isManifest(request) ? { answer: (response) => response.writeHead(403).end(text) } : undefined,
    );
    await expect(copy({ from: honest.url })).rejects.toThrow('ask the team of the house');
  });
});

describe('public servers', () => {
  /** A proxy, which alone knows where the hosts below .example are, as the internet would be. */
  async function internet(hosts: Readonly<Record<string, string>>) {
    const asked: { host: string; method: string; authorization: string | undefined }[] = [];
    const server = http.createServer((request, response) => {
      const url = new URL(request.url ?? '');
      const { method = '', headers } = request;
      asked.push({ host: url.host, method, authorization: headers.authorization });
      const behind = hosts[url.host];
      request.url = `${url.pathname}${url.search}`;
      if (behind !== undefined) passOn(behind, request, response);
      else response.writeHead(404).end();
    });
    const { port, close } = await listen(server);
    running.push({ close });
    return { asked, proxyEnv: { HTTP_PROXY: `http://127.0.0.1:${port}` } };
  }
  const isBlob = ({ method, url }: Request) => method === 'GET' && url.includes('/blobs/sha256');

  it('may serve blobs without being listed', async () => {
    const liar = await lying((request) =>
      isBlob(request) ? to(`http://cdn.example${request.url}`) : undefined,
    );
    const { asked, proxyEnv } = await internet({ 'r.example': liar.url, 'cdn.example': registry.url });
    expect((await copy({ from: 'http://r.example' }, { proxyEnv })).digest).toBe(root);
    const elsewhere = asked.filter(({ host }) => host === 'cdn.example');
    expect(elsewhere.length).toBeGreaterThan(0);
    expect(elsewhere.every(({ authorization }) => authorization === undefined)).toBe(true);
  });

  it('do not receive content, and cannot redirect to a private address', async () => {
    const uploads = await lying((request) =>
      isUpload(request) ? to('http://cdn.example/u', 202) : undefined,
    );
    const inward = await lying((request) => (isBlob(request) ? to('http://10.0.0.1/x') : undefined));
    const hosts = { 'up.example': uploads.url, 'in.example': inward.url };
    const { asked, proxyEnv } = await internet(hosts);
    await expect(copy({ to: 'http://up.example' }, { proxyEnv })).rejects.toThrow('which was not contacted');
    await expect(copy({ from: 'http://in.example' }, { proxyEnv })).rejects.toThrow(
      '10.0.0.1 is in a private network',
    );
    expect(new Set(asked.map(({ host }) => host))).toEqual(new Set(Object.keys(hosts)));
  });
});
