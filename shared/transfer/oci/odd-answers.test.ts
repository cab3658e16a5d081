import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Registry, seedImage, startRegistry } from '../../local/registry/index.ts';
import { copyImage } from '../testing/copy-image.ts';
import { type Meddling, type RegistryFront, startRegistryFront } from '../testing/registry-front.ts';
import { transferFailure } from '../testing/transfer-failure.ts';

let workDir = '';
let registry: Registry;
let root = '';
const fronts: RegistryFront[] = [];

beforeEach(async () => {
  workDir = await mkdtemp(path.join(os.tmpdir(), 'arc-answers-'));
  registry = await startRegistry();
  ({ digest: root } = await seedImage(registry, 'team/app', '1.0', {
    platforms: ['linux/amd64'],
    layers: 1,
  }));
});
afterEach(async () => {
  await Promise.all([registry.close(), ...fronts.splice(0).map((front) => front.close())]);
  await rm(workDir, { recursive: true });
});

async function front(meddle: Parameters<typeof startRegistryFront>[1]): Promise<RegistryFront> {
  const started = await startRegistryFront(registry.url, meddle);
  fronts.push(started);
  return started;
}

function answer(status: number, headers: Record<string, string> = {}): Meddling {
  return { answer: (response) => response.writeHead(status, { 'content-length': 0, ...headers }).end() };
}

function copy({ from = registry.url, to = registry.url, verify = false }) {
  return copyImage({
    source: { name: 'src', remoteURL: from, image: 'team/app:1.0' },
    destination: { name: 'dst', remoteURL: to, image: 'mirror/app:1.0' },
    signal: new AbortController().signal,
    workDir,
    verify,
    retry: { attempts: 2, baseMs: 2, maxMs: 5 },
  });
}

describe('a registry that refuses HEAD', () => {
  it.each([400, 403, 405])(
    'with %i receives a GET, and existing content is not sent again',
    async (status) => {
      const shy = await front(({ method }) => (method === 'HEAD' ? answer(status) : undefined));
      expect((await copy({ from: shy.url, to: shy.url })).digest).toBe(root);
      registry.requests.length = 0;
      const { blobs } = await copy({ from: shy.url, to: shy.url, verify: true });
      expect(blobs).toMatchObject({ copied: 0, mounted: 0 });
      expect(registry.count('PUT') + registry.count('POST')).toBe(0);
    },
  );

  it('or reports another size by HEAD than by GET, is trusted for the latter', async () => {
    const vague = await front(({ method, url }) => ({
      change: (headers) => {
        if (method === 'HEAD' && url.includes('/blobs/')) headers['content-length'] = '0';
      },
    }));
    await copy({ to: vague.url });
    expect((await copy({ to: vague.url, verify: true })).blobs).toMatchObject({ copied: 0, mounted: 0 });
  });

  it('and GET as well is reported as missing permission', async () => {
    const closed = await front(({ method }) =>
      method === 'HEAD' || method === 'GET' ? answer(403) : undefined,
    );
    expect(await transferFailure(copy({ to: closed.url }))).toMatchObject({ reason: 'denied' });
  });
});

describe('a registry that redirects in a loop', () => {
  it('is reported, without advice to list a host', async () => {
    const looping = await front(({ method, url }) =>
      method === 'GET' && url.includes('/blobs/')
        ? answer(307, { location: `${looping.url}${url}` })
        : undefined,
    );
    const { reason, message } = await transferFailure(copy({ from: looping.url }));
    expect(reason).toBe('permanent');
    expect(message).toMatch(/redirects in a loop \(stopped after 5 redirects\)/);
    expect(message).not.toMatch(/redirectHosts|remoteURL/);
  });
});
