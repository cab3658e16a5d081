import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Registry, seedImage, startRegistry } from '../../local/registry/index.ts';
import { copyImage } from '../testing/copy-image.ts';
import { startRegistryFront } from '../testing/registry-front.ts';

let workDir = '';
let source: Registry;
let destination: Registry;

beforeEach(async () => {
  workDir = await mkdtemp(path.join(os.tmpdir(), 'arc-requests-'));
  source = await startRegistry();
  destination = await startRegistry();
});
afterEach(async () => {
  await Promise.all([source.close(), destination.close()]);
  await rm(workDir, { recursive: true });
});

const copy = (from: { url: string } = source, to: { url: string } = destination) =>
  copyImage({
    source: {
      name: 'src',
      remoteURL: from.url,
      image: 'team/app:1.0',
      redirectHosts: [new URL(source.url).host],
    },
    destination: { name: 'dst', remoteURL: to.url, image: 'mirror/app:1.0' },
    signal: new AbortController().signal,
    workDir,
    retry: { attempts: 3, baseMs: 2, maxMs: 5 },
  });

/** Requests as `GET manifests/1.0`, with `<digest>` and `<upload>` for what differs, sorted. */
function requestsTo(registry: Registry): string[] {
  return registry.requests
    .map(({ method, path: asked }) => {
      const what = asked.replace(/^\/v2\/[a-z]+\/app\//, '').replace(/\?.*$/, '');
      return `${method} ${what.replace(/sha256[:-][0-9a-f]{64}/, '<digest>').replace(/uploads\/.+/, 'uploads/<upload>')}`;
    })
    .sort();
}

const platform = { platforms: ['linux/amd64'], layers: 1, signature: false };
const lookup = [
  'GET manifests/1.0',
  'GET manifests/<digest>',
  ...Array.from({ length: 2 }, () => 'GET referrers/<digest>'),
  ...['att', 'att', 'sbom', 'sbom', 'sig', 'sig'].map((suffix) => `HEAD manifests/<digest>.${suffix}`),
];

describe('the requests of a copy', () => {
  it('are one if the destination has the image', async () => {
    await seedImage(source, 'team/app', '1.0', platform);
    await copy();
    source.requests.length = 0;
    destination.requests.length = 0;
    await copy();
    expect(requestsTo(destination)).toEqual(['HEAD manifests/1.0']);
    expect(requestsTo(source)).toEqual(lookup);
  });

  it('are three per blob, and write each manifest once', async () => {
    await seedImage(source, 'team/app', '1.0', platform);
    const { blobs } = await copy();
    const each = (request: string): string[] => Array.from({ length: blobs.copied }, () => request);
    expect(requestsTo(destination)).toEqual(
      [
        'HEAD manifests/1.0',
        'HEAD manifests/<digest>',
        ...[
          ...each('HEAD blobs/<digest>'),
          ...each('POST blobs/uploads/'),
          ...each('PUT blobs/uploads/<upload>'),
        ],
        ...['PUT manifests/1.0', 'PUT manifests/<digest>'],
      ].sort(),
    );
    expect(requestsTo(source)).toEqual([...lookup, ...each('GET blobs/<digest>')].sort());
  });

  it('look for a manifest only if the destination has the root', async () => {
    await seedImage(source, 'team/app', '1.0', platform);
    await copy();
    destination.contents.get('mirror/app')?.tags.clear();
    destination.requests.length = 0;
    expect(await copy()).toMatchObject({ blobs: { copied: 0 } });
    expect(requestsTo(destination)).toEqual([
      ...['HEAD manifests/1.0', 'HEAD manifests/<digest>'],
      'PUT manifests/1.0',
    ]);
  });

  it('list the tags once instead of looking for the attachments of many manifests', async () => {
    const platforms = ['linux/amd64', 'linux/arm64', 'linux/riscv64', 'linux/s390x'];
    const { children } = await seedImage(source, 'team/app', '1.0', { ...platform, platforms });
    const signed = children.at(-1) ?? '';
    source.contents.get('team/app')?.tags.set(`${signed.replace(':', '-')}.sig`, children[0] ?? '');
    expect((await copy()).referrers).toBe(1);
    const asked = requestsTo(source);
    expect(asked.filter((request) => request === 'GET tags/list')).toHaveLength(1);
    expect(asked.filter((request) => /^HEAD .*\.(?:sig|att|sbom)$/.test(request))).toHaveLength(7);
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['refuses the list of tags', (response) => response.writeHead(403).end()],
    ['leaves the tag that is copied out of the list', (response) => response.end('{"tags":["2.0"]}')],
    [
      'has a list of several pages',
      (response) => response.setHeader('link', '</v2/next>; rel="next"').end('{"tags":["1.0"]}'),
    ],
    [
      'lists a round number of tags, and may have more',
      (response) => response.end(JSON.stringify({ tags: ['1.0', ...Array(99).keys()].map(String) })),
    ],
  ])('look for each attachment if the registry %s', async (_, list) => {
    const platforms = ['linux/amd64', 'linux/arm64', 'linux/riscv64'];
    await seedImage(source, 'team/app', '1.0', { ...platform, platforms });
    const front = await startRegistryFront(source.url, ({ url }) =>
      url.includes('/tags/list') ? { answer: list } : undefined,
    );
    await copy(front).finally(() => front.close());
    const looked = requestsTo(source).filter((request) => /^HEAD .*\.(?:sig|att|sbom)$/.test(request));
    expect(looked).toHaveLength(12);
  });

  it('use the upload session that a registry opens instead of mounting', async () => {
    await seedImage(source, 'team/app', '1.0', platform);
    const front = await startRegistryFront(source.url, ({ url }) =>
      url.includes('mount=') ? { answer: (response) => void openUpload(response) } : undefined,
    );
    async function openUpload(response: ServerResponse): Promise<void> {
      const { headers } = await fetch(`${source.url}/v2/mirror/app/blobs/uploads/`, { method: 'POST' });
      response.writeHead(202, { location: headers.get('location') ?? '' }).end();
    }
    const { blobs } = await copy(front, front).finally(() => front.close());
    expect(blobs).toMatchObject({ mounted: 0 });
    expect(front.requests.filter(({ method }) => method === 'POST')).toHaveLength(blobs.copied);
  });

  it('are in flight for several blobs at a time', async () => {
    await seedImage(source, 'team/app', '1.0', { ...platform, layers: 4 });
    const { promise: three, resolve } = Promise.withResolvers<void>();
    let asked = 0;
    // No blob is answered before three are asked for: one after the other they would never arrive.
    const front = await startRegistryFront(source.url, ({ url }) => {
      if (!url.includes('/blobs/')) return undefined;
      asked += 1;
      if (asked === 3) resolve();
      const answer = (response: ServerResponse) =>
        void three.then(() => response.writeHead(307, { location: `${source.url}${url}` }).end());
      return { answer };
    });
    const { blobs } = await copy(front).finally(() => front.close());
    expect(blobs.copied).toBe(5);
  });
});
