import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Registry, type RegistryOptions, seedImage, startRegistry } from '../../local/registry/index.ts';
import { ociIndex } from '../content/manifest.ts';
import { digestOf, digestTag } from '../reference/digest.ts';
import { copyImage } from '../testing/copy-image.ts';

const retry = { attempts: 3, baseMs: 2, maxMs: 5 };
const running: Registry[] = [];
let workDir = '';

beforeEach(async () => {
  workDir = await mkdtemp(path.join(os.tmpdir(), 'arc-copy-'));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((registry) => registry.close()));
  expect(await readdir(workDir)).toEqual([]);
  await rm(workDir, { recursive: true });
});

async function registry(options: RegistryOptions = {}): Promise<Registry> {
  const started = await startRegistry(options);
  running.push(started);
  return started;
}

interface Copy {
  from?: string;
  to?: string;
  progress?: (done: number, total: number) => void;
  maxBytes?: number;
}

function copy(
  source: Registry,
  destination: Registry,
  { from = 'team/app:1.0', to = 'mirror/app:1.0', ...rest }: Copy = {},
) {
  const credentials = { username: 'bob', password: 'hunter22' };
  return copyImage({
    source: { name: 'src', remoteURL: source.url, image: from, credentials },
    destination: { name: 'dst', remoteURL: destination.url, image: to, credentials },
    signal: new AbortController().signal,
    workDir,
    retry,
    ...rest,
  });
}

const tagOf = (registry: Registry, repository: string, tag: string): string | undefined =>
  registry.contents.get(repository)?.tags.get(tag);
const account = { username: 'bob', password: 'hunter22' };

describe('copying an image', () => {
  it('refuses an image above the limit before it writes anything', async () => {
    const [source, destination] = [await registry(), await registry()];
    await seedImage(source, 'team/app', '1.0', { layers: 2, layerBytes: 1_000 });
    await expect(copy(source, destination, { maxBytes: 2_000 })).rejects.toMatchObject({
      reason: 'permanent',
      message: expect.stringMatching(
        /has [\d.]+ (bytes|KiB|MiB), more than the limit of this worker: raise ARC_MAX_BYTES/,
      ),
    });
    expect(destination.count('POST') + destination.count('PUT')).toBe(0);
    await copy(source, destination, { maxBytes: 20_000 });
  });

  it.each(['none', 'basic', 'bearer'] as const)(
    'moves index, children, blobs and signature (%s authentication)',
    async (auth) => {
      const source = await registry({ auth, ...account });
      const destination = await registry({ auth, ...account });
      const seeded = await seedImage(source, 'team/app', '1.0', { layers: 2, layerBytes: 1_500_000 });
      const seen: [number, number][] = [];
      const result = await copy(source, destination, { progress: (done, total) => seen.push([done, total]) });

      const to = destination.contents.get('mirror/app');
      const blobs = new Set(seeded.blobs);
      expect(result).toMatchObject({
        digest: seeded.digest,
        mediaType: ociIndex,
        referrers: 1,
        warnings: [],
      });
      expect(result.blobs).toEqual({ copied: blobs.size, existed: 0, mounted: 0 });
      expect(tagOf(destination, 'mirror/app', '1.0')).toBe(seeded.digest);
      expect(new Set(to?.blobs.keys())).toEqual(blobs);
      for (const [digest, bytes] of to?.blobs ?? []) expect(digestOf(bytes)).toBe(digest);
      expect([...(to?.manifests.keys() ?? [])].sort()).toEqual(
        [seeded.digest, seeded.signature, ...seeded.children].sort(),
      );
      const done = seen.map(([done]) => done);
      expect(done).toEqual([...done].sort((a, b) => a - b));
      expect(seen.at(-1)?.[0]).toBe(seen.at(-1)?.[1]);
    },
  );

  it('bounds the warnings of an image with thousands of uncopied layers and does not cut a secret in half', async () => {
    const [source, destination] = [await registry(), await registry()];
    const config = {
      mediaType: 'application/vnd.oci.image.config.v1+json',
      digest: digestOf(Buffer.alloc(0)),
      size: 0,
    };
    const layers = Array.from({ length: 50 }, (_, index) => ({
      mediaType: 'application/vnd.oci.image.layer.nondistributable.v1.tar',
      digest: digestOf(Buffer.from(String(index))),
      size: 1,
      // With the password before, behind and across where it is cut.
      urls: [`https://elsewhere.io/${'x'.repeat(100 + 4 * index)}hunter22${'x'.repeat(5000)}`],
    }));
    const mediaType = 'application/vnd.oci.image.manifest.v1+json';
    const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, config, layers }));
    const digest = digestOf(bytes);
    source.contents.set('team/app', {
      blobs: new Map([[config.digest, Buffer.alloc(0)]]),
      manifests: new Map([[digest, { bytes, mediaType, digest, blobs: [], children: [] }]]),
      tags: new Map([['1.0', digest]]),
    });
    const { warnings } = await copy(source, destination);
    expect(warnings).toHaveLength(21);
    expect(warnings.at(-1)).toBe('and 30 more');
    expect(Buffer.byteLength(JSON.stringify(warnings))).toBeLessThan(8192);
    expect(warnings.join()).not.toContain('hu');
  });

  it('sends no blob and writes nothing the second time', async () => {
    const [source, destination] = [await registry(), await registry()];
    const seeded = await seedImage(source, 'team/app', '1.0');
    await copy(source, destination);
    destination.requests.length = 0;
    source.requests.length = 0;
    const again = await copy(source, destination);
    expect(again).toMatchObject({
      digest: seeded.digest,
      blobs: { copied: 0, mounted: 0 },
      bytes: { copied: 0 },
    });
    expect(again.blobs.existed).toBe(new Set(seeded.blobs).size);
    expect(destination.count('PUT') + destination.count('POST')).toBe(0);
    expect(source.count('GET', /\/blobs\//)).toBe(0);
  });

  it('does not resend blobs of an earlier attempt', async () => {
    const [source, destination] = [await registry(), await registry()];
    await seedImage(source, 'team/app', '1.0');
    await copy(source, destination);
    destination.contents.get('mirror/app')?.manifests.clear();
    destination.contents.get('mirror/app')?.tags.clear();
    expect((await copy(source, destination)).blobs).toMatchObject({ copied: 0, mounted: 0 });
  });

  it.each(['basic', 'bearer'] as const)('mounts blobs within one registry (%s)', async (auth) => {
    const both = await registry({ auth, ...account });
    const seeded = await seedImage(both, 'team/app', '1.0');
    const result = await copy(both, both);
    expect(result.blobs).toEqual({ copied: 0, existed: 0, mounted: new Set(seeded.blobs).size });
    expect(both.count('GET', /\/blobs\//)).toBe(0);
  });

  it('sends blobs when the registry does not mount them', async () => {
    const faults = [{ method: 'POST', path: /mount=/, fault: { kind: 'status', status: 405 } } as const];
    const both = await registry({ faults });
    await seedImage(both, 'team/app', '1.0');
    expect((await copy(both, both)).blobs).toMatchObject({ mounted: 0 });
  });

  it('copies an image by digest and then sets a tag only if one is given', async () => {
    const [source, destination] = [await registry(), await registry()];
    const { digest } = await seedImage(source, 'team/app', '1.0');
    const untagged = await copy(source, destination, {
      from: `team/app@${digest}`,
      to: `mirror/app@${digest}`,
    });
    expect(untagged.digest).toBe(digest);
    expect(destination.contents.get('mirror/app')?.tags.size).toBe(0);
    await copy(source, destination, { from: `team/app@${digest}`, to: 'mirror/app:2.0' });
    expect(tagOf(destination, 'mirror/app', '2.0')).toBe(digest);
  });

  it('resolves a tag once, so that a newer image is not mixed in', async () => {
    const [source, destination] = [await registry(), await registry()];
    await seedImage(source, 'team/app', '1.0');
    await copy(source, destination);
    expect(source.count('GET', /\/manifests\/1\.0$/)).toBe(1);
  });
});

describe('referrers', () => {
  it('are read page by page', async () => {
    const source = await registry({ referrersPage: 1 });
    const destination = await registry();
    await seedImage(source, 'team/app', '1.0');
    addReferrer(source, 'sbom');
    addReferrer(source, 'scan');
    expect((await copy(source, destination)).referrers).toBe(3);
  });

  it('are found and listed by fallback tag in registries without the API', async () => {
    const [source, destination] = [
      await registry({ referrersApi: false }),
      await registry({ referrersApi: false }),
    ];
    const seeded = await seedImage(source, 'team/app', '1.0');
    const { digest, signature = '' } = seeded;
    putFallback(source, digest, [signature]);
    expect((await copy(source, destination)).referrers).toBe(1);
    const fallback = tagOf(destination, 'mirror/app', digestTag(digest)) ?? '';
    const list = destination.contents.get('mirror/app')?.manifests.get(fallback)?.bytes.toString('utf8');
    expect(JSON.parse(list ?? '{}')).toMatchObject({ manifests: [{ digest: signature }] });
    destination.requests.length = 0;
    await copy(source, destination);
    expect(destination.count('PUT')).toBe(0);
  });

  it("that are already in the destination's fallback list remain listed", async () => {
    const [source, destination] = [await registry(), await registry({ referrersApi: false })];
    const { digest } = await seedImage(source, 'team/app', '1.0');
    await copy(source, destination);
    addReferrer(source, 'sbom');
    await copy(source, destination);
    const fallback = tagOf(destination, 'mirror/app', digestTag(digest)) ?? '';
    const list = destination.contents.get('mirror/app')?.manifests.get(fallback)?.bytes.toString('utf8');
    expect(JSON.parse(list ?? '{}').manifests).toHaveLength(2);
  });

  it("are an error if the destination's fallback tag holds another image, which is left unchanged", async () => {
    const [source, destination] = [await registry(), await registry({ referrersApi: false })];
    const { digest } = await seedImage(source, 'team/app', '1.0');
    const other = await seedImage(destination, 'mirror/app', 'other', { platforms: ['linux/amd64'] });
    const tag = digestTag(digest);
    const held = other.children[0] ?? '';
    destination.contents.get('mirror/app')?.tags.set(tag, held);
    await expect(copy(source, destination)).rejects.toMatchObject({
      reason: 'permanent',
      message: expect.stringContaining(`Tag ${tag} in repository mirror/app`),
    });
    expect(tagOf(destination, 'mirror/app', tag)).toBe(held);
  });

  it('are none if the fallback tag holds the image itself', async () => {
    const source = await registry({ referrersApi: false, gitlabFallback: true });
    const destination = await registry();
    await seedImage(source, 'team/app', '1.0', { signature: false });
    expect(await copy(source, destination)).toMatchObject({ referrers: 0, warnings: [] });
  });

  it('of another image in a fallback list are skipped with a warning', async () => {
    const [source, destination] = [await registry({ referrersApi: false }), await registry()];
    const { digest, children } = await seedImage(source, 'team/app', '1.0', { signature: false });
    putFallback(source, digest, children.slice(0, 1));
    expect(await copy(source, destination)).toMatchObject({
      referrers: 0,
      warnings: [expect.stringContaining('does not refer to it')],
    });
  });

  it("are skipped with a warning if the source's fallback tag holds something else", async () => {
    const [source, destination] = [await registry({ referrersApi: false }), await registry()];
    const { digest, children } = await seedImage(source, 'team/app', '1.0', { signature: false });
    source.contents.get('team/app')?.tags.set(digestTag(digest), children[0] ?? '');
    expect((await copy(source, destination)).warnings).toEqual([
      `${children[0]} under tag ${digestTag(digest)} should list the referrers of ${digest}, but is no index; not copied`,
    ]);
  });

  it('under a tag that the registry lists but does not serve are an error', async () => {
    const [source, destination] = [await registry(), await registry()];
    const { digest, signature = '' } = await seedImage(source, 'team/app', '1.0');
    const tag = `${digestTag(digest)}.sig`;
    source.contents.get('team/app')?.tags.set(tag, signature);
    const path = new RegExp(`manifests/${signature}`);
    source.faults.add({ method: 'GET', path, fault: { kind: 'status', status: 404 }, times: 2 });
    await expect(copy(source, destination)).rejects.toThrow('so it would be lost');
  });

  it('under cosign tags are copied with their tags', async () => {
    const [source, destination] = [await registry(), await registry()];
    const { digest, signature = '' } = await seedImage(source, 'team/app', '1.0');
    const tag = `${digestTag(digest)}.sig`;
    source.contents.get('team/app')?.tags.set(tag, signature);
    expect((await copy(source, destination)).referrers).toBe(2);
    expect(tagOf(destination, 'mirror/app', tag)).toBe(signature);
  });

  it('that are listed but lost are an error, and the tag is not set', async () => {
    const [source, destination] = [await registry(), await registry()];
    const { signature = '' } = await seedImage(source, 'team/app', '1.0');
    source.faults.add({ path: new RegExp(`manifests/${signature}`), fault: { kind: 'status', status: 404 } });
    await expect(copy(source, destination)).rejects.toThrow(/lists sha256:.* as a referrer .* would be lost/);
    expect(destination.contents.get('mirror/app')?.tags.size ?? 0).toBe(0);
  });
});

function putManifest(registry: Registry, body: object, tag?: string): string {
  const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, ...body }));
  const digest = digestOf(bytes);
  const repository = registry.contents.get('team/app');
  const subject = 'subject' in body ? { subject: (body.subject as { digest: string }).digest } : {};
  const mediaType = 'manifests' in body ? ociIndex : 'application/vnd.oci.image.manifest.v1+json';
  repository?.manifests.set(digest, { bytes, digest, mediaType, blobs: [], children: [], ...subject });
  if (tag !== undefined) repository?.tags.set(tag, digest);
  return digest;
}

function addReferrer(registry: Registry, artifactType: string): void {
  const digest = registry.contents.get('team/app')?.tags.get('1.0') ?? '';
  const content = Buffer.from(artifactType);
  const blob = { mediaType: 'text/plain', digest: digestOf(content), size: content.length };
  registry.contents.get('team/app')?.blobs.set(blob.digest, content);
  const subject = { mediaType: ociIndex, digest, size: 1 };
  putManifest(registry, {
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    artifactType,
    config: blob,
    subject,
  });
}

function putFallback(registry: Registry, subject: string, digests: string[]): void {
  const manifests = digests.map((digest) => ({
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    digest,
    size: 1,
  }));
  putManifest(registry, { mediaType: ociIndex, manifests }, digestTag(subject));
}
