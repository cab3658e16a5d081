import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Registry, seedImage, startRegistry } from '../../local/registry/index.ts';
import { digestOf } from '../reference/digest.ts';
import { type CopyRequest, copyImage } from '../testing/copy-image.ts';
import { type Meddling, type RegistryFront, startRegistryFront } from '../testing/registry-front.ts';
import { transferFailure } from '../testing/transfer-failure.ts';

const credentials = { username: 'bob', password: 'hunter22-secret' };
const ownHeader = `Basic ${Buffer.from('bob:hunter22-secret').toString('base64')}`;
let workDir = '';
let registry: Registry;
let root = '';
let layer = '';
const fronts: RegistryFront[] = [];

beforeEach(async () => {
  workDir = await mkdtemp(path.join(os.tmpdir(), 'arc-odd-'));
  registry = await startRegistry();
  const seeded = await seedImage(registry, 'team/app', '1.0', { platforms: ['linux/amd64'], layers: 1 });
  root = seeded.digest;
  layer = seeded.blobs[0] ?? '';
});
afterEach(async () => {
  await Promise.all([registry.close(), ...fronts.splice(0).map((front) => front.close())]);
  await rm(workDir, { recursive: true });
});

type Request = Parameters<Parameters<typeof startRegistryFront>[1]>[0];

async function front(meddle: (request: Request) => Meddling): Promise<RegistryFront> {
  const started = await startRegistryFront(registry.url, meddle);
  fronts.push(started);
  return started;
}

/** An answer instead of the registry's. */
function answer(status: number, headers: Record<string, string> = {}, body = ''): Meddling {
  return {
    answer: (response) =>
      response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers }).end(body),
  };
}

/** A head, and then one byte now and again, for ever. */
function drip(status: number, headers: Record<string, string> = {}): Meddling {
  return {
    answer: (response: ServerResponse) => {
      response.writeHead(status, headers);
      const timer = setInterval(() => response.write('x'), 20);
      response.once('close', () => clearInterval(timer));
    },
  };
}

/** From `url` to a repository of its own behind `to`; both default to the registry itself. */
function copy(
  { from = registry.url, to = registry.url, named = [] }: { from?: string; to?: string; named?: string[] },
  more: Partial<CopyRequest> = {},
) {
  const redirectHosts = named.map((url) => new URL(url).host);
  return copyImage({
    source: { name: 'src', remoteURL: from, image: 'team/app:1.0', credentials, redirectHosts },
    destination: { name: 'dst', remoteURL: to, image: 'mirror/app:1.0', credentials, redirectHosts },
    signal: new AbortController().signal,
    workDir,
    retry: { attempts: 2, baseMs: 2, maxMs: 5 },
    ...more,
  });
}

const isLayer = ({ method, url }: Request): boolean => method === 'GET' && url.endsWith(layer);
const isBlob = ({ method, url }: Request): boolean => method === 'GET' && url.includes('/blobs/sha256');

describe('a host that the registry redirects to', () => {
  it('receives no credentials when it asks for them, nor does the token service it names', async () => {
    const thief = await front(({ url }) =>
      url.startsWith('/token')
        ? answer(200, {}, '{"token":"t"}')
        : answer(401, { 'www-authenticate': `Bearer realm="${thief.url}/token"` }),
    );
    const source = await front((request) =>
      isBlob(request) ? answer(307, { location: `${thief.url}${request.url}` }) : undefined,
    );
    const error = await transferFailure(copy({ from: source.url, named: [thief.url] }));
    expect(thief.requests.length).toBeGreaterThan(0);
    expect(thief.requests.every(({ authorization }) => authorization === undefined)).toBe(true);
    expect(thief.requests.some(({ path: asked }) => asked.startsWith('/token'))).toBe(false);
    expect(error.reason).toBe('retryable');
    expect(error.message).toContain(`${new URL(thief.url).host}, which registry`);
  });

  it('may receive uploads as well as serve downloads, if the Endpoint names it', async () => {
    const moved = await front(({ url }) => answer(307, { location: `${registry.url}${url}` }));
    expect((await copy({ to: moved.url, named: [registry.url] })).digest).toBe(root);
    await expect(copy({ to: moved.url })).rejects.toThrow('spec.redirectHosts');
  });

  it.each(['ftp://elsewhere/x', 'file:///etc/passwd', 'http://', 'http://[::bad'])(
    'cannot be %s, which is not retried',
    async (location) => {
      const source = await front((request) => (isBlob(request) ? answer(302, { location }) : undefined));
      const error = await transferFailure(copy({ from: source.url }));
      expect(error).toMatchObject({
        reason: 'permanent',
        message: expect.stringContaining('Endpoint "src"'),
      });
    },
  );
});

describe('a registry that makes no progress', () => {
  const timeouts = { requestMs: 300, idleMs: 300, commitMs: 300 };
  const cases: [string, 'from' | 'to', (request: Request) => Meddling][] = [
    ['a blob', 'from', (request) => (isLayer(request) ? drip(200) : undefined)],
    ['a redirect', 'from', (request) => (isLayer(request) ? drip(302, { location: '/x' }) : undefined)],
    ['an error', 'from', (request) => (isLayer(request) ? drip(500) : undefined)],
    ['a manifest', 'from', ({ url }) => (url.includes('manifests') ? drip(200) : undefined)],
    ['the answer to an upload', 'to', ({ method }) => (method === 'PUT' ? drip(201) : undefined)],
  ];

  it.each(cases)('fails when it sends %s byte by byte', async (_, side, meddle) => {
    const slow = await front(meddle);
    const error = await transferFailure(copy({ [side]: slow.url }, { timeouts }));
    expect(error.reason).toBe('retryable');
    expect(error.message).toMatch(/received only \d+ bytes for|no complete response for/);
    expect(error.message).toContain(new URL(slow.url).host);
  });
});

describe('a registry that', () => {
  it.each(['junk', 'md5:abc', `sha256:${'G'.repeat(64)}`])(
    'reports the invalid digest %s is ignored',
    async (digest) => {
      const change = (headers: IncomingHttpHeaders): void => {
        if (headers['docker-content-digest'] !== undefined) headers['docker-content-digest'] = digest;
      };
      const source = await front(() => ({ change }));
      const destination = await front(() => ({ change }));
      expect((await copy({ from: source.url, to: destination.url })).digest).toBe(root);
    },
  );

  it.each([400, 405, 501])('answers %i to HEAD receives a GET', async (status) => {
    const odd = await front(({ method }) => (method === 'HEAD' ? answer(status) : undefined));
    const { digest, referrers } = await copy({ from: odd.url, to: odd.url });
    expect({ digest, referrers }).toEqual({ digest: root, referrers: 1 });
  });

  it.each([401, 403, 406, 500])('answers %i to a mount receives the bytes', async (status) => {
    const odd = await front(({ url }) => (url.includes('mount=') ? answer(status) : undefined));
    expect((await copy({ from: odd.url, to: odd.url })).blobs).toMatchObject({ mounted: 0 });
  });

  it('gives an upload URL relative to that of the opened upload is supported', async () => {
    const destination = await front(({ method }) => ({
      change: (headers) => {
        if (method === 'POST' && headers.location !== undefined)
          headers.location = headers.location.slice(headers.location.lastIndexOf('/') + 1);
      },
    }));
    expect((await copy({ to: destination.url })).digest).toBe(root);
  });

  it('answers 416 to every Range is read from the beginning', async () => {
    registry.faults.add({ method: 'GET', path: /blobs/, times: 2, fault: { kind: 'truncate', bytes: 10 } });
    const source = await front((request) => (request.headers.range === undefined ? undefined : answer(416)));
    expect((await copy({ from: source.url }, { retry: { attempts: 4, baseMs: 2, maxMs: 5 } })).digest).toBe(
      root,
    );
  });

  it('serves a blob whose size differs from its manifest fails permanently', async () => {
    const source = await front((request) => (isBlob(request) ? answer(200, {}, 'short') : undefined));
    const error = await transferFailure(copy({ from: source.url }));
    expect(error).toMatchObject({ reason: 'permanent', message: expect.stringContaining('it has 5 bytes') });
  });

  it.each([403, 404])(
    'answers %i to anonymous requests receives a request at the base of its API',
    async (status) => {
      const shy = await front(({ url, headers }) => {
        if (headers.authorization === ownHeader) return undefined;
        return url === '/v2/' ? answer(401, { 'www-authenticate': 'Basic realm="x"' }) : answer(status);
      });
      expect((await copy({ from: shy.url })).digest).toBe(root);
      expect(shy.requests.filter(({ path: asked }) => asked === '/v2/')).toHaveLength(1);
    },
  );

  /** Serves `count` referrers of the image, each of about so many bytes, and says how many of them were read. */
  async function referred(count: number, bytes: number) {
    const served = new Map<string, string>();
    for (let number = 0; number < count; number += 1) {
      const empty = { mediaType: 'application/vnd.oci.empty.v1+json', digest: layer, size: 2 };
      const subject = { mediaType: 'application/vnd.oci.image.manifest.v1+json', digest: root, size: 2 };
      const padding = { annotations: { padding: `${number}`.padEnd(bytes, 'x') } };
      const manifest = { schemaVersion: 2, config: empty, layers: [], subject, ...padding };
      const text = JSON.stringify({ ...manifest, mediaType: subject.mediaType });
      served.set(digestOf(Buffer.from(text)), text);
    }
    const mediaType = 'application/vnd.oci.image.index.v1+json';
    const entry = { mediaType: 'application/vnd.oci.image.manifest.v1+json', size: bytes };
    const manifests = [...served.keys()].map((digest) => ({ ...entry, digest }));
    const list = JSON.stringify({ schemaVersion: 2, mediaType, manifests });
    let read = 0;
    const { url } = await front(({ url: asked }) => {
      if (asked.includes(`/referrers/${root}`)) return answer(200, { 'content-type': mediaType }, list);
      if (asked.includes('/referrers/'))
        return answer(200, { 'content-type': mediaType }, '{"schemaVersion":2,"manifests":[]}');
      const found = served.get(asked.slice(asked.lastIndexOf('/') + 1));
      if (found === undefined) return undefined;
      read += 1;
      return answer(200, { 'content-type': entry.mediaType }, found);
    });
    return { url, read: () => read };
  }

  it.each([
    ['more bytes of referrers than a copy holds', 100, 1024 * 1024, /more than 64 MiB/, 65],
    ['more referrers than a copy has', 2100, 10, /more than 2000 manifests/, 2001],
  ])('lists %s is not read further', async (_, count, bytes, message, most) => {
    const many = await referred(count, bytes);
    await expect(copy({ from: many.url })).rejects.toMatchObject({
      reason: 'permanent',
      message: expect.stringMatching(message),
    });
    expect(many.read()).toBeLessThanOrEqual(most);
  });

  it('lists unrelated manifests as referrers has those skipped', async () => {
    const source = await front(({ url }) => {
      if (!url.includes(`/referrers/${root}`)) return undefined;
      const manifests = [{ mediaType: 'application/vnd.oci.image.index.v1+json', digest: root, size: 1 }];
      const type = { 'content-type': 'application/vnd.oci.image.index.v1+json' };
      return answer(200, type, JSON.stringify({ schemaVersion: 2, manifests }));
    });
    const { referrers, warnings } = await copy({ from: source.url });
    expect(referrers).toBe(0);
    expect(warnings).toEqual([expect.stringContaining('does not refer to it')]);
  });
});

describe('a token service', () => {
  async function guarded(
    challenge: (token: string) => string,
    issue: (request: Request) => Meddling,
  ): Promise<RegistryFront> {
    const guard = await front((request) => {
      if (request.url.startsWith('/token')) return issue(request);
      if (request.headers.authorization === 'Bearer good') return undefined;
      return answer(401, { 'www-authenticate': challenge(`${guard.url}/token`) });
    });
    return guard;
  }
  const good = answer(200, {}, '{"token":"","access_token":"good"}');

  it.each<[string, (realm: string) => string]>([
    ['after Negotiate', (realm) => `Negotiate YIIabc==, Bearer realm="${realm}",service="s"`],
    ['without quotes', (realm) => `Bearer realm=${realm},service=s`],
  ])('is found in a challenge %s', async (_, challenge) => {
    const source = await guarded(challenge, () => good);
    expect((await copy({ from: source.url })).digest).toBe(root);
  });

  it('that has moved is followed on its own host only', async () => {
    const moved = await guarded(
      (realm) => `Bearer realm="${realm}"`,
      ({ url }) => (url.includes('moved') ? good : answer(302, { location: `${url}&moved=1` })),
    );
    expect((await copy({ from: moved.url })).digest).toBe(root);
    const other = await front(() => good);
    const away = await guarded(
      (realm) => `Bearer realm="${realm}"`,
      ({ url }) => answer(302, { location: `${other.url}${url}` }),
    );
    expect((await transferFailure(copy({ from: away.url }))).reason).toBe('permanent');
    expect(other.requests).toEqual([]);
  });

  it('receives the scope that the registry requires, if it differs', async () => {
    const source = await guarded(
      (realm) => `Bearer realm="${realm}",scope="repository:backend/team/app:pull"`,
      ({ url }) =>
        decodeURIComponent(url).includes('backend') ? good : answer(200, {}, '{"token":"narrow"}'),
    );
    expect((await copy({ from: source.url })).digest).toBe(root);
  });

  it('that grants only one of two repositories still allows a copy by bytes', async () => {
    const both = await guarded(
      (realm) => `Bearer realm="${realm}"`,
      ({ url }) => (new URL(url, 'http://x').searchParams.getAll('scope').length > 1 ? answer(403) : good),
    );
    expect((await copy({ from: both.url, to: both.url })).blobs).toMatchObject({ mounted: 0 });
  });

  it('whose token is not a valid header is reported', async () => {
    const source = await guarded(
      (realm) => `Bearer realm="${realm}"`,
      () => answer(200, {}, JSON.stringify({ token: 'good\r\nx: y' })),
    );
    expect(await transferFailure(copy({ from: source.url }))).toMatchObject({ reason: 'permanent' });
  });
});
